from course_utils.pipeline.simulation import Simulation, Store


def test_delays_add_up_exactly():
    simulation, seen = Simulation(), []

    def process():
        for _ in range(3):
            yield 2
            seen.append(simulation.now)

    simulation.start(process())
    simulation.run()
    assert seen == [2, 4, 6]


def test_a_store_gives_items_in_order_and_to_the_one_who_waited_longest():
    simulation, seen = Simulation(), []
    store = Store(simulation)

    def taker(name):
        item = yield store
        seen.append((simulation.now, name, item))

    def putter():
        yield 5
        store.put("a")
        store.put("b")
        store.put("c")

    simulation.start(taker("first"), taker("second"), putter())
    simulation.run()
    assert seen == [(5, "first", "a"), (5, "second", "b")]


def test_a_process_that_waits_for_ever_does_not_keep_the_simulation_going():
    simulation = Simulation()

    def taker():
        yield Store(simulation)

    simulation.start(taker())
    simulation.run()
    assert simulation.now == 0
