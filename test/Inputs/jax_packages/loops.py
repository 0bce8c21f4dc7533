# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole programs with loops, as users of packages write them: samplers, solvers, searches, training loops. Each gives a
function and its arguments."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from . import model

LOOPS = {}
loop = functools.partial(model, models=LOOPS)


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def key():
    return np.asarray(jax.random.PRNGKey(0))


def classes(seed, count, number):
    return np.random.default_rng(seed).integers(0, number, count, dtype=np.int32)


def logistic(w, x, y):
    return -(jnp.logaddexp(0, x @ w) - y * (x @ w)).sum() - (w**2).sum() / 2


def perceptron(sizes):
    return [(normal(i, a, b) / a**0.5, np.zeros(b, np.float32)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]


@loop("perceptron of 3 layers of 512, an epoch of 200 batches by Adam", "Optax")
def epoch(small):
    import optax

    sizes, samples, batch = ([8, 16, 4], 32, 8) if small else ([784, 512, 512, 10], 25600, 128)
    optimizer = optax.adam(1e-3)

    def loss(layers, x, y):
        for w, b in layers[:-1]:
            x = jax.nn.relu(x @ w + b)
        return optax.softmax_cross_entropy_with_integer_labels(x @ layers[-1][0] + layers[-1][1], y).mean()

    def train(layers, x, y, seed):
        def step(carry, chosen):
            layers, state = carry
            value, gradients = jax.value_and_grad(loss)(layers, x[chosen], y[chosen])
            updates, state = optimizer.update(gradients, state)
            return (optax.apply_updates(layers, updates), state), value

        order = jax.random.permutation(seed, samples).reshape(-1, batch)
        (layers, _), losses = jax.lax.scan(step, (layers, optimizer.init(layers)), order)
        return layers, losses

    return train, (perceptron(sizes), normal(9, samples, sizes[0]), classes(8, samples, sizes[-1]), key())


@loop("logistic regression of 4,096 x 64, 30 steps of L-BFGS with line search", "Optax")
def lbfgs(small):
    import optax

    rows, columns, steps = (32, 4, 3) if small else (4096, 64, 30)

    def minimize(x, y):
        def value(w):
            return -logistic(w, x, y) / rows

        optimizer, value_and_gradient = optax.lbfgs(), optax.value_and_grad_from_state(value)

        def step(carry):
            w, state = carry
            found, gradient = value_and_gradient(w, state=state)
            updates, state = optimizer.update(gradient, state, w, value=found, grad=gradient, value_fn=value)
            return optax.apply_updates(w, updates), state

        begin = jnp.zeros(columns)
        return jax.lax.while_loop(lambda carry: optax.tree.get(carry[1], "count") < steps, step, (begin, optimizer.init(begin)))[0]

    return minimize, (normal(0, rows, columns), (normal(1, rows) > 0).astype(np.float32))


@loop("logistic regression of 1,000 x 20, 50 steps of NUTS", "BlackJAX")
def nuts(small):
    import blackjax

    rows, columns, steps = (20, 3, 3) if small else (1000, 20, 50)

    def sample(x, y, seed):
        kernel = blackjax.nuts(lambda w: logistic(w, x, y), 0.05, jnp.ones(columns))

        def step(state, one):
            state, _ = kernel.step(one, state)
            return state, state.position

        return jax.lax.scan(step, kernel.init(jnp.zeros(columns)), jax.random.split(seed, steps))[1]

    return sample, (normal(0, rows, columns), (normal(1, rows) > 0).astype(np.float32), key())


@loop("the same by 50 steps of 256 chains of HMC", "BlackJAX")
def chains(small):
    import blackjax

    rows, columns, steps, count = (20, 3, 3, 4) if small else (1000, 20, 50, 256)

    def sample(x, y, seed):
        kernel = blackjax.hmc(lambda w: logistic(w, x, y), 0.01, jnp.ones(columns), 10)

        def step(state, one):
            state, _ = jax.vmap(kernel.step)(jax.random.split(one, count), state)
            return state, state.position.mean(0)

        return jax.lax.scan(step, jax.vmap(kernel.init)(jnp.zeros((count, columns))), jax.random.split(seed, steps))[1]

    return sample, (normal(0, rows, columns), (normal(1, rows) > 0).astype(np.float32), key())


@loop("regression of 2,000 x 16, 300 steps of SVI", "NumPyro")
def svi(small):
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO, autoguide

    rows, columns, steps = (16, 2, 3) if small else (2000, 16, 300)

    def model(x, y):
        w = numpyro.sample("w", dist.Normal(0, 1).expand([columns]).to_event(1))
        scale = numpyro.sample("s", dist.HalfCauchy(1.0))
        numpyro.sample("y", dist.Normal(x @ w, scale), obs=y)

    inference = SVI(model, autoguide.AutoMultivariateNormal(model), numpyro.optim.Adam(0.01), Trace_ELBO())

    def fit(x, y):
        state = inference.init(jax.random.PRNGKey(0), x, y)
        state, losses = jax.lax.scan(lambda state, _: inference.update(state, x, y), state, None, length=steps)
        return inference.get_params(state), losses

    return fit, (normal(0, rows, columns), normal(1, rows))


@loop("4,096 Lorenz systems by Tsit5 with adaptive steps", "Diffrax")
def tsit5(small):
    import diffrax

    def field(_, y, a):
        return jnp.stack([a[0] * (y[1] - y[0]), y[0] * (a[1] - y[2]) - y[1], y[0] * y[1] - a[2] * y[2]])

    def solve(begin, a):
        saved = diffrax.SaveAt(ts=jnp.linspace(0, 5, 16))
        controller = diffrax.PIDController(1e-5, 1e-5)
        return diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 5.0, 0.01, begin, a, saveat=saved,
                                   stepsize_controller=controller, max_steps=1024).ys  # fmt: skip

    return jax.vmap(solve, (0, None)), (normal(0, 4 if small else 4096, 3), np.array([10, 28, 8 / 3], np.float32))


@loop("neural ODE of 1,024 x 16, the gradient of 32 steps of Heun", "Diffrax")
def neural_ode(small):
    import diffrax

    def field(_, y, layers):
        for w, _ in layers[:-1]:
            y = jnp.tanh(y @ w)
        return y @ layers[-1][0]

    def loss(layers, begin):
        found = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Heun(), 0.0, 1.0, 1 / 32, begin, layers, max_steps=32)
        return (found.ys**2).mean()

    return jax.value_and_grad(loss), (perceptron([16, 128, 128, 16]), normal(5, 8 if small else 1024, 16))


@loop("Gumbel MuZero, 64 games, 32 simulations", "mctx")
def search(small):
    import mctx

    games, width, actions, simulations = (2, 8, 4, 3) if small else (64, 64, 16, 32)

    def play(weights, policy, values, moves, states, seed):
        def recur(parameters, _, action, states):
            weights, policy, values, moves = parameters
            states = jnp.tanh(states @ weights + moves[action])
            return mctx.RecurrentFnOutput(reward=states[:, 0], discount=jnp.full(games, 0.99), prior_logits=states @ policy,
                                          value=states @ values), states  # fmt: skip

        root = mctx.RootFnOutput(prior_logits=states @ policy, value=states @ values, embedding=states)
        found = mctx.gumbel_muzero_policy((weights, policy, values, moves), seed, root, recur, num_simulations=simulations, max_depth=8)
        return found.action, found.action_weights

    return play, (normal(0, width, width) / width**0.5, normal(1, width, actions) / 8, normal(2, width) / 8, normal(3, actions, width) / 4,
                  normal(4, games, width), key())  # fmt: skip


@loop("transport between two clouds of 2,048 points, 200 steps of Sinkhorn", "OTT-JAX")
def sinkhorn(small):
    from ott.geometry import pointcloud
    from ott.problems.linear import linear_problem
    from ott.solvers.linear import sinkhorn as solvers

    points, steps = (16, 20) if small else (2048, 200)

    def solve(x, y):
        problem = linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.05))
        found = solvers.Sinkhorn(max_iterations=steps, threshold=-1.0)(problem)
        return found.f, found.g

    return solve, (normal(0, points, 3), normal(1, points, 3))


@loop("1,000 soft spheres, all pairs, 100 steps of NVE", "JAX MD")
def spheres(small):
    from jax_md import energy, simulate, space

    points, steps = (8, 3) if small else (1000, 100)
    displacement, shift = space.periodic(12.0)

    def simulate_all(positions, seed):
        begin, step = simulate.nve(energy.soft_sphere_pair(displacement), shift, 1e-3)
        state = jax.lax.fori_loop(0, steps, lambda _, state: step(state), begin(seed, positions, kT=1e-3))
        return state.position, state.momentum

    return simulate_all, (np.random.default_rng(0).random((points, 3), np.float32) * 12, key())


@loop("CMA-ES of 256 x 64, 50 generations", "evosax")
def evolution(small):
    from evosax.algorithms import CMA_ES

    population, size, generations = (8, 4, 3) if small else (256, 64, 50)
    strategy = CMA_ES(population_size=population, solution=jnp.zeros(size))

    def evolve(seed):
        def generation(state, one):
            first, second = jax.random.split(one)
            x, state = strategy.ask(first, state, strategy.default_params)
            cost = (x**2 - 10 * jnp.cos(2 * jnp.pi * x) + 10).sum(-1)
            state, _ = strategy.tell(second, x, cost, state, strategy.default_params)
            return state, cost.min()

        begin = strategy.init(seed, jnp.zeros(size), strategy.default_params)
        return jax.lax.scan(generation, begin, jax.random.split(seed, generations))[1]

    return evolve, (key(),)


@loop("Poisson's equation on 1,024 x 1,024, 300 conjugate gradients", "JAX")
def gradients(small):
    size, steps = (8, 5) if small else (1024, 300)

    def stencil(x):
        padded = jnp.pad(x, 1)
        return 4 * x - padded[2:, 1:-1] - padded[:-2, 1:-1] - padded[1:-1, 2:] - padded[1:-1, :-2]

    return lambda b: jax.scipy.sparse.linalg.cg(stencil, b, maxiter=steps, tol=0.0)[0], (normal(0, size, size),)


@loop("Ising model of 512 x 512, 200 sweeps", "JAX")
def ising(small):
    size, sweeps = (8, 3) if small else (512, 200)
    colors = np.indices((size, size)).sum(0) % 2

    def half(spins, one, color):
        field = sum(jnp.roll(spins, step, axis) for step in (1, -1) for axis in (0, 1))
        up = jax.random.uniform(one, spins.shape) < jax.nn.sigmoid(0.8 * field)
        return jnp.where(colors == color, jnp.where(up, 1.0, -1.0), spins)

    def sweep(spins, one):
        first, second = jax.random.split(one)
        spins = half(half(spins, first, 0), second, 1)
        return spins, spins.mean()

    return lambda spins, seed: jax.lax.scan(sweep, spins, jax.random.split(seed, sweeps)), (np.sign(normal(0, size, size)), key())


@loop("Kalman filter of 64 series of 500 steps", "JAX")
def kalman(small):
    series, steps = (2, 4) if small else (64, 500)
    moves, sees = (np.eye(8) * 0.95 + 0.01 * normal(0, 8, 8)).astype(np.float32), normal(1, 4, 8)

    def step(carry, y):
        mean, spread = moves @ carry[0], moves @ carry[1] @ moves.T + 0.1 * jnp.eye(8)
        seen = sees @ spread @ sees.T + 0.1 * jnp.eye(4)
        gain = jnp.linalg.solve(seen, sees @ spread).T
        mean, spread = mean + gain @ (y - sees @ mean), spread - gain @ seen @ gain.T
        return (mean, spread), mean

    return jax.vmap(lambda y: jax.lax.scan(step, (jnp.zeros(8), jnp.eye(8)), y)[1]), (normal(2, series, steps, 4),)


@loop("1,024 ants, 20 steps of springs", "Brax")
def ants(small):
    from brax import envs

    count, steps = (2, 2) if small else (1024, 20)
    environment = envs.get_environment("ant", backend="spring")

    def step(state, action):
        state = jax.vmap(environment.step)(state, action)
        return state, state.reward

    def play(seed, actions):
        state, rewards = jax.lax.scan(step, jax.vmap(environment.reset)(jax.random.split(seed, count)), actions)
        return state.obs, rewards

    return play, (key(), np.tanh(normal(0, steps, count, environment.action_size)))


@loop("gradient of the CTC loss of 8 x 250 frames, 64 of 1,024 tokens", "Optax")
def ctc(small):
    import optax

    samples, frames, length, tokens = (2, 6, 3, 5) if small else (8, 250, 64, 1024)
    ends = np.zeros((samples, frames), np.float32), np.zeros((samples, length), np.float32)

    def loss(logits, labels):
        return optax.ctc_loss(logits, ends[0], labels, ends[1]).mean()

    return jax.value_and_grad(loss), (normal(0, samples, frames, tokens), 1 + classes(1, samples * length, tokens - 1).reshape(samples, length))
