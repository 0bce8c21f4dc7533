/* The best order of a gather, its wait, and two ops of compute, from C. */
#include "braid-c/Schedule.h"
#include "braid-c/Version.h"

#include <stdio.h>
#include <string.h>

int main(void) {
  static const char *const names[] = {"gather", "wait", "product", "sum"};
  const int8_t kinds[] = {BRAID_START, BRAID_WAIT, BRAID_COMPUTE,
                          BRAID_COMPUTE};
  const int32_t lanes[] = {0, -1, -1, -1};
  const int64_t costs[] = {300, 0, 500, 100}, edges[] = {1, 3, 2, 3},
                awaits[] = {1, 0};
  braid_problem_description description = {sizeof description};
  description.num_nodes = 4;
  description.kinds = kinds;
  description.lanes = lanes;
  description.costs = costs;
  description.num_edges = 2;
  description.edges = edges;
  description.num_awaits = 1;
  description.awaits = awaits;
  description.num_lanes = 1;
  description.max_memory = -1;

  braid_error error = {sizeof error};
  braid_problem *problem = braid_problem_create(&description, &error);
  int64_t order[4];
  braid_search_summary found = {sizeof found};
  if (!problem || braid_search(problem, NULL, NULL, order, &found, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  braid_times times[4] = {{sizeof times[0]}};
  braid_simulation_summary summary = {sizeof summary};
  if (braid_simulate(problem, order, times, &summary, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  for (int i = 0; i < 4; ++i)
    printf("%s from %d to %d ns\n", names[order[i]], (int)times[i].start_ns,
           (int)times[i].end_ns);
  braid_problem_destroy(problem);
  printf("headers and library of one version: %d, %d\n",
         strcmp(BRAID_VERSION_STRING, braid_schedule_version()) == 0,
         BRAID_SCHEDULE_API_VERSION == braid_schedule_api_version());
  return 0;
}
