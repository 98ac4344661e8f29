from course_utils.pipeline.simulation import Simulation, Store


def test_integer_delays_add_up_exactly():
    simulation, seen = Simulation(), []

    def process():
        for _ in range(3):
            yield 2
            seen.append(simulation.now)

    simulation.start(process())
    simulation.run()
    assert seen == [2, 4, 6]


def test_store_serves_items_and_waiting_processes_first_in_first_out():
    simulation, seen = Simulation(), []
    store = Store(simulation)

    def taker(name):
        item = yield store
        seen.append((simulation.now, name, item))

    def late_taker():
        yield 7
        yield from taker("late")

    def putter():
        yield 5
        store.put("a")
        store.put("b")
        store.put("c")

    simulation.start(taker("first"), taker("second"), putter(), late_taker())
    simulation.run()
    assert seen == [(5, "first", "a"), (5, "second", "b"), (7, "late", "c")]


def test_simulation_ends_although_a_process_still_waits():
    simulation, resumed = Simulation(), []

    def taker():
        yield 3
        yield Store(simulation)
        resumed.append(True)

    simulation.start(taker())
    simulation.run()
    assert (simulation.now, resumed) == (3, [])
