import { describe, expect, it } from 'vitest';
import { EventRing } from '../../../services/control/event-ring.ts';

function fillRing(count: number, limits = { frames: 3, characters: 1000 }): EventRing {
  const ring = new EventRing('boot', limits);
  for (let number = 1; number <= count; number += 1) ring.add((id) => `<${id}>`);
  return ring;
}

describe('event ring', () => {
  it('returns the events after an id', () => {
    expect(fillRing(3).after('boot-1')).toEqual(['<boot-2>', '<boot-3>']);
  });

  it('returns no events to a client that has received all', () => {
    expect(fillRing(3).after('boot-3')).toEqual([]);
    expect(fillRing(0).after('boot-0')).toEqual([]);
  });

  it('returns undefined for dropped events', () => {
    expect(fillRing(5).after('boot-2')).toHaveLength(3);
    expect(fillRing(5).after('boot-1')).toBeUndefined();
  });

  it('drops events by size and by number', () => {
    const ring = fillRing(5, { frames: 100, characters: 20 });
    expect(ring.after('boot-3')).toHaveLength(2);
    expect(ring.after('boot-2')).toBeUndefined();
  });

  it.each(['', 'boot', 'boot-', 'boot-x', 'boot--1', 'other-1', 'boot-9', '-1', `boot-${'9'.repeat(40)}`])(
    'rejects the unknown id %j',
    (id) => {
      expect(fillRing(3).after(id)).toBeUndefined();
    },
  );
});
