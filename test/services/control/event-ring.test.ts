import { describe, expect, it } from 'vitest';
import { EventRing } from '../../../services/control/event-ring.ts';

function filled(count: number, limits = { frames: 3, characters: 1000 }): EventRing {
  const ring = new EventRing('boot', limits);
  for (let number = 1; number <= count; number += 1) ring.add((id) => `<${id}>`);
  return ring;
}

describe('the ring of live events', () => {
  it('gives what came after an id', () => {
    expect(filled(3).after('boot-1')).toEqual(['<boot-2>', '<boot-3>']);
  });

  it('gives nothing to who has seen all', () => {
    expect(filled(3).after('boot-3')).toEqual([]);
    expect(filled(0).after('boot-0')).toEqual([]);
  });

  it('does not know what it had to drop', () => {
    expect(filled(5).after('boot-2')).toHaveLength(3);
    expect(filled(5).after('boot-1')).toBeUndefined();
  });

  it('drops by size as well as by count', () => {
    const ring = filled(5, { frames: 100, characters: 20 });
    expect(ring.after('boot-3')).toHaveLength(2);
    expect(ring.after('boot-2')).toBeUndefined();
  });

  it.each(['', 'boot', 'boot-', 'boot-x', 'boot--1', 'other-1', 'boot-9', '-1', `boot-${'9'.repeat(40)}`])(
    'does not know the id %j',
    (id) => {
      expect(filled(3).after(id)).toBeUndefined();
    },
  );
});
