import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Batcher } from '../../../services/kit/batcher.ts';

/** A batcher whose batches end when they are told to. */
function open(largest: number, everyTurn = false) {
  const batches: { readonly items: readonly number[]; readonly end: () => void }[] = [];
  const batcher = new Batcher<number>({
    maxBatchSize: largest,
    waitEachTurn: everyTurn,
    process: (items) => new Promise<void>((end) => batches.push({ items: [...items], end })),
  });
  const begun = (): readonly (readonly number[])[] => batches.map(({ items }) => items);
  return { batcher, batches, begun };
}

it('takes together what comes in one turn, and in the next batch what comes while one is at work', async () => {
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

it('makes no batch larger than allowed, and keeps the order', async () => {
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

it('waits for the end of the turn before each batch where asked to', async () => {
  const { batcher, batches, begun } = open(10, true);
  batcher.add(1);
  await nextTurn();
  batcher.add(2);
  batches[0]?.end();
  await Promise.resolve();
  // Whoever was answered may come again in the same turn.
  batcher.add(3);
  await nextTurn();
  await nextTurn();
  expect(begun()).toEqual([[1], [2, 3]]);
});

it('says when nothing waits any more', async () => {
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
