import { describe, expect, it } from 'vitest';
import { mapFields, mappingRules } from '../../../services/notify/domain/mapping.ts';

const map = (fields: Record<string, unknown>, query: string, nested = true) =>
  mapFields(fields, mappingRules(new URLSearchParams(query)), { nested, maxDepth: 5 });

describe('a payload mapping', () => {
  it('moves, swaps, sets and removes flat fields', () => {
    expect(map({ subject: 'S', x: 1 }, ':subject=title&tag=a')).toEqual({ title: 'S', x: 1 });
    expect(map({ title: 'T', body: 'B' }, ':title=body')).toEqual({ title: 'B', body: 'T' });
    expect(map({ message: 'M', body: 'B' }, ':message=body')).toEqual({ body: 'M' });
    expect(map({ body: 'B' }, ':type=warning')).toEqual({ body: 'B', type: 'warning' });
    expect(map({ title: 'T', body: 'B' }, ':title=')).toEqual({ body: 'B' });
    expect(map({ x: 1 }, ':message=body')).toEqual({ x: 1 });
    expect(map({ level: 'high' }, ':level=low')).toEqual({ level: 'low' });
  });

  it('copies from nested paths of up to five levels, only in JSON', () => {
    const alert = { alerts: [{ labels: { name: 'disk' } }], 'a.b': 'flat' };
    expect(map(alert, ':alerts[0].labels.name=title')).toMatchObject({ title: 'disk' });
    expect(map(alert, ':a.b=body')).toMatchObject({ body: 'flat' });
    expect(map(alert, ':alerts[0].labels.name=title', false)).toEqual(alert);
  });

  it.each([
    'a[x]',
    'a.b',
    'alerts[9].x',
    'a.b.c.d.e.f',
    'a..b',
    'constructor.name',
    '__proto__.x',
    `${'a.'.repeat(9999)}b`,
  ])('fails for the path %s', (path) =>
    expect(map({ a: [1], alerts: [] }, new URLSearchParams({ [`:${path}`]: 'body' }).toString())).toBeUndefined(),
  );

  it('does not reach into prototypes', () => {
    expect(Object.getPrototypeOf(map({ x: 'a' }, ':x=__proto__') ?? {})).toBe(Object.prototype);
  });
});
