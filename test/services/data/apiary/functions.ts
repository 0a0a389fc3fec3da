import { describe, expect, test } from 'vitest';
import { dataOf, refusalOf, type Apiary } from './apiary.ts';

/** Which function a call means, and what is told where none or several fit. */
export function functionCases(at: () => Apiary): void {
  describe('calls of functions', () => {
    test('one argument without a name takes what is sent under the empty name, of any such type', async () => {
      const { db } = at();
      // A text has the whole body, as it was sent.
      expect(await dataOf(db.rpc('letters', { '': 'heather' }))).toBe('{"":"heather"}'.length);
      expect(await dataOf(db.rpc('size_of_json', { '': { a: 1, b: 2 } }))).toBe(1);
      expect(await dataOf(db.rpc('size_of_json', { a: 1, b: 2 }))).toBe(2);
      expect(await dataOf(db.rpc('kind_of_jsonb', { '': true }))).toBe('object');
    });

    test('the body as it is: text for a text, JSON of any kind for a JSON', async () => {
      const { room } = at();
      const send = async (name: string, body: string, type: string): Promise<unknown> => {
        const reply = await room.request(`/rest/v1/rpc/${name}`, {
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

    test('one that a request cannot name is not there, nor proposed', async () => {
      const { db } = at();
      expect(await refusalOf(db.rpc('doubled', { '': 4 }))).toMatchObject({
        status: 404,
        code: 'PGRST202',
        message: 'Could not find the function public.doubled() in the schema cache',
        details:
          'Searched for the function public.doubled with parameter  or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
      });
      // A function of a row is a column of it, not a call.
      expect(await refusalOf(db.rpc('shouted'))).toEqual({
        status: 404,
        code: 'PGRST202',
        message: 'Could not find the function public.shouted without parameters in the schema cache',
        details:
          'Searched for the function public.shouted without parameters or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
        hint: null,
      });
    });

    test('with and without an argument under one name', async () => {
      const { db } = at();
      expect(await dataOf(db.rpc('tasted'))).toBe('nothing');
      expect(await dataOf(db.rpc('tasted', { '': '' }))).toBe('some {"":""}');
      expect(await dataOf(db.rpc('smoked', { '': 'cones' }))).toBe('{"":"cones"}');
      // Both fit where nothing is sent: the shorter one is told first.
      for (const sent of [undefined, {}]) {
        expect(await refusalOf(db.rpc('smoked', sent))).toEqual({
          status: 300,
          code: 'PGRST203',
          message: 'Could not choose the best candidate function between: public.smoked(), public.smoked( => text)',
          details: null,
          hint: 'Try renaming the parameters or the function itself in the database so function overloading can be resolved',
        });
      }
    });

    test('several of one name: the names of the arguments choose, their types do not', async () => {
      const { db } = at();
      expect(await dataOf(db.rpc('looked_up'))).toBe('all');
      expect(await dataOf(db.rpc('looked_up', { keeper: 'Odile' }).select('id').gt('kilos', 30))).toEqual([
        { id: 101 },
      ]);
      expect(await dataOf(db.rpc('looked_up', { meadow: 12 }))).toBe(2);
      expect(await dataOf(db.rpc('looked_up', { meadow: 12, heavier: 20 }))).toBe(1);
      for (const size of [1, 'small']) {
        expect(await refusalOf(db.rpc('jar', { size }))).toMatchObject({
          status: 300,
          code: 'PGRST203',
          message:
            'Could not choose the best candidate function between: public.jar(size => integer), public.jar(size => text)',
        });
      }
      expect(await refusalOf(db.rpc('looked_up', { meadow: 12, lighter: 20 }))).toMatchObject({
        code: 'PGRST202',
        message: 'Could not find the function public.looked_up(lighter, meadow) in the schema cache',
        hint: 'Perhaps you meant to call the function public.looked_up(heavier, meadow)',
      });
      expect(await refusalOf(db.rpc('looked_up', { k: 'Odile' }))).toMatchObject({
        hint: 'Perhaps you meant to call the function public.looked_up()',
      });
      expect(await refusalOf(db.rpc('listd', { words: [] }))).toMatchObject({
        details:
          'Searched for the function public.listd with parameter words or with a single unnamed json/jsonb parameter, but no matches were found in the schema cache.',
        hint: 'Perhaps you meant to call the function public.listed',
      });
    });

    test('lists, defaults and large numbers as arguments, sent and in the address', async () => {
      const { db, room } = at();
      expect(await dataOf(db.rpc('joined', { words: ['a', 'b,c'] }))).toBe('a+b,c');
      const repeated = await room.request('/rest/v1/rpc/joined?words=a&words=b%2Cc');
      expect(await repeated.json()).toBe('a+b,c');
      expect(await dataOf(db.rpc('listed', { words: ['a b', 'c'] }, { get: true }))).toBe(2);
      expect(await dataOf(db.rpc('scaled', { kilos: 4 }, { get: true }))).toBe(8);
      expect(await dataOf(db.rpc('scaled', { kilos: 4, by: 0.5 }))).toBe(2);
      expect(await dataOf(db.rpc('scaled', { kilos: 4, by: undefined }, { get: true }))).toBe(8);
      expect(await dataOf(db.rpc('as_text', { big: 9_007_199_254_740_993n }))).toBe('9007199254740993');
    });

    test('columns, embeds, conditions and pages of what comes back; counted, or its headers alone', async () => {
      const { db } = at();
      const meadows = db.rpc('all_meadows', {}, { get: true }).select('name, hives(label)').eq('hives.keeper', 'Odile');
      expect(await dataOf(meadows.order('altitude', { ascending: false }).range(1, 2))).toEqual([
        { name: 'Lower', hives: [{ label: 'amber' }, { label: 'birch' }] },
        { name: 'Marsh', hives: [] },
      ]);
      expect(await dataOf(db.rpc('best_meadow').select('name, map_of(sheet)'))).toEqual({
        name: 'Upper',
        map_of: { sheet: 'sheet 7' },
      });
      const yields = db.rpc('yields', { above: 1 }).select('of:hive, jars::text').gt('jars', 10);
      expect(await dataOf(yields)).toEqual([{ of: 'amber', jars: '21' }]);
      expect(await dataOf(db.rpc('all_meadows').select('high:altitude.max(), count()'))).toEqual([
        { high: 640, count: 3 },
      ]);
      const counted = await db.rpc('all_meadows', {}, { count: 'exact' }).gt('altitude', 100).limit(1).select('id');
      expect([counted.status, counted.count, counted.data]).toEqual([206, 2, [{ id: 11 }]]);
      const head = await db.rpc('all_meadows', {}, { head: true, count: 'exact' });
      expect([head.status, head.count, head.data]).toEqual([200, 3, null]);
      const scalar = await db.rpc('scaled', { kilos: 1.5 }, { count: 'exact' });
      expect([scalar.count, scalar.data]).toEqual([1, 3]);
    });

    test('what a function fails at has the status of its code', async () => {
      const { db, room } = at();
      expect(await refusalOf(db.rpc('two_at_once'))).toMatchObject({ status: 500, code: '21000' });
      const statusOf = async (code: string): Promise<number> => (await db.rpc('failed', { code })).status;
      expect(await Promise.all(['PT418', 'PTABC', '23505', '40001', '22012'].map(statusOf))).toEqual([
        418, 500, 409, 500, 400,
      ]);
      const told = async (apikey: string, sign?: string): Promise<unknown> => {
        const headers = { apikey, ...(sign === undefined ? {} : { Authorization: `Bearer ${sign}` }) };
        const reply = await room.request('/rest/v1/rpc/failed?code=42501', { headers });
        return [reply.status, reply.headers.get('www-authenticate')];
      };
      // Who is nobody yet is told to sign in.
      expect(await told(room.anonKey)).toEqual([401, 'Bearer']);
      expect(await told(room.anonKey, room.token('somebody'))).toEqual([403, null]);
    });

    test('reading with one that writes is refused, one of no value answers nothing, another schema has its own', async () => {
      const { db } = at();
      const got = await db.rpc('robbed', { above: 1000 }, { get: true });
      expect([got.status, got.error?.code]).toEqual([405, '25006']);
      const nothing = await db.rpc('swept');
      expect([nothing.status, nothing.data]).toEqual([204, null]);
      expect(await dataOf(db.schema('cellar').rpc('stirred', { times: 1 }))).toBe(2);
      expect(await refusalOf(db.rpc('stirred', { times: 1 }))).toMatchObject({ status: 404, code: 'PGRST202' });
    });
  });
}
