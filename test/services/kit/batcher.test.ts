import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Batcher } from '../../../services/kit/batcher.ts';

/** Creates a batcher whose batches end on request. */
function open(maxBatchSize: number, everyTurn = false) {
  const batches: { readonly items: readonly number[]; readonly end: () => void }[] = [];
  const batcher = new Batcher<number>({
    maxBatchSize,
    waitEachTurn: everyTurn,
    process: (items) => new Promise<void>((end) => batches.push({ items: [...items], end })),
  });
  const begun = (): readonly (readonly number[])[] => batches.map(({ items }) => items);
  return { batcher, batches, begun };
}

it('batches items of one turn, and items that arrive during a batch in the next one', async () => {
  const { batcher, batches, begun } = open(10);
  for (const item of [1, 2, 3]) batcher.add(item);
  expect(begun()).toEqual([]);
  await nextTurn();
  expect(begun()).toEqual([[1, 2, 3]]);
  batcher.add(4);
  await nextTurn();
  batcher.add(5);
  await nextTurn();
  expect(begun()).toEqual([[1, 2, 3]]);
  batches[0]?.end();
  await nextTurn();
  expect(begun()).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

it('limits the size of a batch and preserves the order', async () => {
  const batches: (readonly number[])[] = [];
  const batcher = new Batcher<number>({ maxBatchSize: 3, process: async (items) => void batches.push([...items]) });
  for (let item = 0; item < 8; item += 1) batcher.add(item);
  await batcher.drained();
  expect(batches).toEqual([
    [0, 1, 2],
    [3, 4, 5],
    [6, 7],
  ]);
});

it('waits for the end of the turn before each batch with waitEachTurn', async () => {
  const { batcher, batches, begun } = open(10, true);
  batcher.add(1);
  await nextTurn();
  batcher.add(2);
  batches[0]?.end();
  await Promise.resolve();
  // A caller can add another item in the same turn as its result.
  batcher.add(3);
  await nextTurn();
  await nextTurn();
  expect(begun()).toEqual([[1], [2, 3]]);
});

it('resolves drained() when the queue is empty', async () => {
  const { batcher, batches } = open(1);
  expect(batcher.drained()).toBeUndefined();
  batcher.add(1);
  batcher.add(2);
  let drained = false;
  void batcher.drained()?.then(() => (drained = true));
  await nextTurn();
  batches[0]?.end();
  await nextTurn();
  expect([drained, batches.length]).toEqual([false, 2]);
  batches[1]?.end();
  await nextTurn();
  expect([drained, batcher.drained()]).toEqual([true, undefined]);
});
