import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Resolution of function calls, and errors for none or several matches. */
export function functionCases(index: () => Apiary): void {
  describe('calls of functions', () => {
    test('passes the value with the empty name to a single unnamed argument of any accepted type', async () => {
      const { db } = index();
      // A text argument receives the body unchanged.
      expect(await getData(db.rpc('letters', { '': 'heather' }))).toBe('{"":"heather"}'.length);
      expect(await getData(db.rpc('size_of_json', { '': { a: 1, b: 2 } }))).toBe(1);
      expect(await getData(db.rpc('size_of_json', { a: 1, b: 2 }))).toBe(2);
      expect(await getData(db.rpc('kind_of_jsonb', { '': true }))).toBe('object');
    });

    test('passes the entire body: text to a text argument, and any JSON to a JSON argument', async () => {
      const { room: fixture } = index();
      const send = async (name: string, body: string, type: string): Promise<unknown> => {
        const reply = await fixture.request(`/rest/v1/rpc/${name}`, {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        });
        return [reply.status, await reply.json()];
      };
      expect(await send('letters', 'a "quoted" word', 'text/plain')).toEqual([200, 15]);
      expect(await send('kind_of_jsonb', '[1,2]', 'application/json')).toEqual([200, 'array']);
      expect(await send('kind_of_jsonb', '"x"', 'application/json')).toEqual([200, 'string']);
    });

    test('hides functions that a request cannot call, also from suggestions', async () => {
      const { db } = index();
      expect(await getError(db.rpc('doubled', { '': 4 }))).toMatchObject({
        status: 404,
        code: 'PGRST202',
        message: 'Could not find the function public.doubled() in the schema cache',
        details:
          'Searched for the function public.doubled with parameter  or with a single unnamed json/jsonb ' +
          'parameter, but no matches were found in the schema cache.',
      });
      // A function of a row is a computed column and cannot be called.
      expect(await getError(db.rpc('shouted'))).toEqual({
        status: 404,
        code: 'PGRST202',
        message: 'Could not find the function public.shouted without parameters in the schema cache',
        details:
          'Searched for the function public.shouted without parameters or with a single unnamed json/' +
          'jsonb parameter, but no matches were found in the schema cache.',
        hint: null,
      });
    });

    test('distinguishes functions with and without an argument', async () => {
      const { db } = index();
      expect(await getData(db.rpc('tasted'))).toBe('nothing');
      expect(await getData(db.rpc('tasted', { '': '' }))).toBe('some {"":""}');
      expect(await getData(db.rpc('smoked', { '': 'cones' }))).toBe('{"":"cones"}');
      // Both match without arguments: the shorter one is listed first.
      for (const sent of [undefined, {}]) {
        expect(await getError(db.rpc('smoked', sent))).toEqual({
          status: 300,
          code: 'PGRST203',
          message: 'Could not choose the best candidate function between: public.smoked(), public.smoked( => text)',
          details: null,
          hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
        });
      }
    });

    test('resolves overloads by argument names, not by types', async () => {
      const { db } = index();
      expect(await getData(db.rpc('looked_up'))).toBe('all');
      expect(await getData(db.rpc('looked_up', { keeper: 'Odile' }).select('id').gt('kilos', 30))).toEqual([
        { id: 101 },
      ]);
      expect(await getData(db.rpc('looked_up', { meadow: 12 }))).toBe(2);
      expect(await getData(db.rpc('looked_up', { meadow: 12, heavier: 20 }))).toBe(1);
      for (const size of [1, 'small']) {
        expect(await getError(db.rpc('jar', { size }))).toMatchObject({
          status: 300,
          code: 'PGRST203',
          message:
            'Could not choose the best candidate function between: public.jar(size => integer), public.jar(size => text)',
        });
      }
      expect(await getError(db.rpc('looked_up', { meadow: 12, lighter: 20 }))).toMatchObject({
        code: 'PGRST202',
        message: 'Could not find the function public.looked_up(lighter, meadow) in the schema cache',
        hint: 'Perhaps you meant to call the function public.looked_up(heavier, meadow)',
      });
      expect(await getError(db.rpc('looked_up', { k: 'Odile' }))).toMatchObject({
        hint: 'Perhaps you meant to call the function public.looked_up()',
      });
      expect(await getError(db.rpc('listd', { words: [] }))).toMatchObject({
        details:
          'Searched for the function public.listd with parameter words or with a single unnamed json/' +
          'jsonb parameter, but no matches were found in the schema cache.',
        hint: 'Perhaps you meant to call the function public.listed',
      });
    });

    test('accepts lists, defaults and large numbers in the body and the query string', async () => {
      const { db, room: fixture } = index();
      expect(await getData(db.rpc('joined', { words: ['a', 'b,c'] }))).toBe('a+b,c');
      const repeated = await fixture.request('/rest/v1/rpc/joined?words=a&words=b%2Cc');
      expect(await repeated.json()).toBe('a+b,c');
      expect(await getData(db.rpc('listed', { words: ['a b', 'c'] }, { get: true }))).toBe(2);
      expect(await getData(db.rpc('scaled', { kilos: 4 }, { get: true }))).toBe(8);
      expect(await getData(db.rpc('scaled', { kilos: 4, by: 0.5 }))).toBe(2);
      expect(await getData(db.rpc('scaled', { kilos: 4, by: undefined }, { get: true }))).toBe(8);
      expect(await getData(db.rpc('as_text', { big: 9_007_199_254_740_993n }))).toBe('9007199254740993');
    });

    test('selects, embeds, filters, pages and counts results, or returns only headers', async () => {
      const { db } = index();
      const meadows = db.rpc('all_meadows', {}, { get: true }).select('name, hives(label)').eq('hives.keeper', 'Odile');
      expect(await getData(meadows.order('altitude', { ascending: false }).range(1, 2))).toEqual([
        { name: 'Lower', hives: [{ label: 'amber' }, { label: 'birch' }] },
        { name: 'Marsh', hives: [] },
      ]);
      expect(await getData(db.rpc('best_meadow').select('name, map_of(sheet)'))).toEqual({
        name: 'Upper',
        map_of: { sheet: 'sheet 7' },
      });
      const yields = db.rpc('yields', { above: 1 }).select('of:hive, jars::text').gt('jars', 10);
      expect(await getData(yields)).toEqual([{ of: 'amber', jars: '21' }]);
      expect(await getData(db.rpc('all_meadows').select('high:altitude.max(), count()'))).toEqual([
        { high: 640, count: 3 },
      ]);
      const counted = await db.rpc('all_meadows', {}, { count: 'exact' }).gt('altitude', 100).limit(1).select('id');
      expect([counted.status, counted.count, counted.data]).toEqual([206, 2, [{ id: 11 }]]);
      const head = await db.rpc('all_meadows', {}, { head: true, count: 'exact' });
      expect([head.status, head.count, head.data]).toEqual([200, 3, null]);
      const scalar = await db.rpc('scaled', { kilos: 1.5 }, { count: 'exact' });
      expect([scalar.count, scalar.data]).toEqual([1, 3]);
    });

    test('returns the status for the SQLSTATE of a failed function', async () => {
      const { db, room: fixture } = index();
      expect(await getError(db.rpc('two_at_once'))).toMatchObject({ status: 500, code: '21000' });
      const getStatus = async (code: string): Promise<number> => (await db.rpc('failed', { code })).status;
      expect(await Promise.all(['PT418', 'PTABC', '23505', '40001', '22012'].map(getStatus))).toEqual([
        418, 500, 409, 500, 400,
      ]);
      const response = async (apikey: string, sign?: string): Promise<unknown> => {
        const headers = { apikey, ...(sign === undefined ? {} : { Authorization: `Bearer ${sign}` }) };
        const reply = await fixture.request('/rest/v1/rpc/failed?code=42501', { headers });
        return [reply.status, reply.headers.get('www-authenticate')];
      };
      // Anonymous callers are requested to sign in.
      expect(await response(fixture.anonKey)).toEqual([401, 'Bearer']);
      expect(await response(fixture.anonKey, fixture.token('somebody'))).toEqual([403, null]);
    });

    test('refuses reads with a volatile function, returns nothing for void, and uses other schemas', async () => {
      const { db } = index();
      const rows = await db.rpc('robbed', { above: 1000 }, { get: true });
      expect([rows.status, rows.error?.code]).toEqual([405, '25006']);
      const emptyResult = await db.rpc('swept');
      expect([emptyResult.status, emptyResult.data]).toEqual([204, null]);
      expect(await getData(db.schema('cellar').rpc('stirred', { times: 1 }))).toBe(2);
      expect(await getError(db.rpc('stirred', { times: 1 }))).toMatchObject({ status: 404, code: 'PGRST202' });
    });
  });
}
