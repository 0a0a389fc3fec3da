import * as m from '#messages/data-problems';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toPlan } from '../../../services/data/app-api/plan-tree.ts';
import { adminAuthorization } from '../../support/host.ts';
import { openDataFixture, type DataFixture } from './data-fixture.ts';

describe('Data: plans and names for the SQL editor', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture();
    await fixture.sql(`
      create table harbours (id int primary key, name text);
      create table boats (id int primary key, harbour int references harbours, name text, built date);
      insert into harbours select n, 'harbour ' || n from generate_series(1, 100) n;
      insert into boats select n, n % 100 + 1, 'boat ' || n, '2020-01-01' from generate_series(1, 20000) n;
      create view old_boats as select * from boats where built < '2000-01-01';
      create function count_boats(harbour int, since date default now()) returns bigint language sql stable as
        'select count(*) from boats';
      analyze`);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  async function callApp(method: string, path: string, body?: unknown): Promise<any> {
    const reply = await fetch(`${fixture.host.url('control')}/api/data/sql${path}`, {
      method,
      headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, ...((await reply.json()) as object) };
  }
  const explain = (query: string, options: object = {}): Promise<any> =>
    callApp('POST', '/explain', { query, ...options });

  it('returns the estimated plan without running the statement', async () => {
    const { plan, error } = await explain('delete from boats -- all of them\n;');
    expect(error).toBeNull();
    expect(plan.nodes.map(({ operation, depth }: any) => [operation, depth])).toEqual([
      ['ModifyTable', 0],
      ['Seq Scan', 1],
    ]);
    expect(plan.nodes[1]).toMatchObject({ relation: 'public.boats', estimatedRows: 20_000, actualRows: null });
    expect([plan.executionMs, plan.nodes[1].totalMs]).toEqual([null, null]);
    expect(await fixture.sql('select count(*)::int from boats')).toEqual([{ count: 20_000 }]);
  });

  it('measures the steps and rolls the statement back', async () => {
    const { plan } = await explain(`delete from boats where name = 'boat 7'`, { analyze: true });
    const scan = plan.nodes[plan.costliest];
    expect(scan).toMatchObject({ operation: 'Seq Scan', actualRows: 1, removedRows: 19_999, loops: 1 });
    expect(scan.details).toEqual([{ kind: 'Filter', text: `(boats.name = 'boat 7'::text)` }]);
    expect(plan.executionMs).toBeGreaterThan(0);
    expect(plan.hint).toBe('index');
    expect(await fixture.sql('select count(*)::int from boats')).toEqual([{ count: 20_000 }]);
  });

  it('lists the children of a join after it', async () => {
    const { plan } = await explain('select * from boats b left join harbours h on h.id = b.harbour', { analyze: true });
    expect(plan.nodes[0]).toMatchObject({ operation: 'Hash Left Join', depth: 0, actualRows: 20_000 });
    expect(plan.nodes.slice(1).map(({ depth }: any) => depth)).toEqual([1, 1, 2]);
    for (const { ownMs, totalMs } of plan.nodes) expect(ownMs).toBeLessThanOrEqual(totalMs);
  });

  it('explains one statement only, and nothing after it runs', async () => {
    const several = await explain('select 1; delete from boats; commit', { analyze: true });
    expect(several.error).toMatchObject({ code: '42601', message: m.explainOneStatement() });
    expect(await fixture.sql('select count(*)::int from boats')).toEqual([{ count: 20_000 }]);
    const wrong = await explain('select nope from boats');
    expect(wrong.error).toMatchObject({ code: '42703', position: 8 });
    expect((await explain('commit')).error.code).toBe('42601');
  });

  it('uses the rights of the selected role', async () => {
    await fixture.sql('create table private (id int); revoke all on private from anon');
    expect((await explain('select * from private', { role: 'anon' })).error.code).toBe('42501');
    expect((await explain('select * from private')).error).toBeNull();
  });

  it('cancels a statement that is measured', async () => {
    const running = explain('select pg_sleep(3600)', { analyze: true, id: 'measured-and-slow' });
    let isDone = false;
    void running.finally(() => (isDone = true));
    await expect
      .poll(async () => {
        await callApp('POST', '/cancel', { id: 'measured-and-slow' });
        return isDone;
      })
      .toBe(true);
    expect(await running).toMatchObject({ wasCancelled: true, plan: null, error: { code: '57014' } });
  });

  it('lists tables with their columns, and functions', async () => {
    const { tables, functions } = await callApp('GET', '/names');
    const boats = tables.find(({ name }: any) => name === 'boats');
    expect(boats).toEqual({
      schema: 'public',
      name: 'boats',
      isView: false,
      columns: [
        { name: 'id', type: 'integer' },
        { name: 'harbour', type: 'integer' },
        { name: 'name', type: 'text' },
        { name: 'built', type: 'date' },
      ],
    });
    expect(tables.find(({ name }: any) => name === 'old_boats').isView).toBe(true);
    expect(tables.some(({ schema, name }: any) => schema === 'auth' && name === 'users')).toBe(true);
    expect(functions.find(({ name }: any) => name === 'count_boats').arguments).toBe(
      'harbour integer, since date DEFAULT now()',
    );
    expect(functions.some(({ schema, name }: any) => schema === 'auth' && name === 'uid')).toBe(true);
  });
});

describe('toPlan', () => {
  const scan = { 'Node Type': 'Seq Scan', 'Relation Name': 'boats', 'Total Cost': 40, 'Plan Rows': 1 };

  it('multiplies the averages of loops, and subtracts the children', () => {
    const inner = { ...scan, 'Actual Rows': 2, 'Actual Loops': 10, 'Actual Total Time': 0.5 };
    const outer = { 'Node Type': 'Nested Loop', 'Join Type': 'Semi', 'Total Cost': 100, 'Plan Rows': 20 };
    const measured = { 'Actual Rows': 20, 'Actual Loops': 1, 'Actual Total Time': 7 };
    const plan = toPlan([{ Plan: { ...outer, ...measured, Plans: [inner] }, 'Execution Time': 7.5 }]);
    expect(plan.nodes[0]).toMatchObject({ operation: 'Nested Loop Semi Join', ownMs: 2, ownCost: 60 });
    expect(plan.nodes[1]).toMatchObject({ actualRows: 20, totalMs: 5, ownMs: 5 });
    expect([plan.costliest, plan.executionMs]).toEqual([1, 7.5]);
  });

  it('recommends new statistics when the estimate is far from the number of rows', () => {
    const measured = { 'Actual Rows': 5000, 'Actual Loops': 1, 'Actual Total Time': 7 };
    expect(toPlan([{ Plan: { ...scan, ...measured } }]).hint).toBe('statistics');
  });

  it('recommends more memory for a sort on disk', () => {
    const sort = { 'Node Type': 'Sort', 'Total Cost': 40, 'Plan Rows': 1, 'Sort Space Type': 'Disk' };
    expect(toPlan([{ Plan: sort }]).hint).toBe('sort_memory');
  });

  it('rejects output of another format', () => {
    expect(() => toPlan([{ Plan: { 'Node Type': 7 } }])).toThrow();
    expect(() => toPlan('Seq Scan')).toThrow();
  });
});
