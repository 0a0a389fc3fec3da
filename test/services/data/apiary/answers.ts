import { describe, expect, test } from 'vitest';
import { getData, getError, type Apiary } from './apiary.ts';

/** Forms of a response: rows or one row, CSV, without nulls, counted, planned. */
export function answerCases(index: () => Apiary): void {
  describe('answers', () => {
    test('returns one row, optionally none, and refuses more than one', async () => {
      const { db } = index();
      const refused = (page: number) => ({
        status: 406,
        code: 'PGRST116',
        message: 'Cannot coerce the result to a single JSON object',
        details: `The result contains ${page} rows`,
        hint: null,
      });
      expect(await getError(db.from('keepers').select().single())).toEqual(refused(3));
      expect(await getError(db.from('keepers').select().eq('name', 'Nobody').single())).toEqual(refused(0));
      const none = await db.from('keepers').select().eq('name', 'Nobody').maybeSingle();
      expect([none.status, none.data, none.error]).toEqual([200, null, null]);
      const many = await db.from('keepers').select().maybeSingle();
      expect([many.status, many.error?.code]).toEqual([406, 'PGRST116']);
      await expect(db.from('keepers').select('nothing').throwOnError()).rejects.toMatchObject({ code: '42703' });
    });

    test('strips nulls from a list and from one row', async () => {
      const { db } = index();
      const list = db.from('keepers').select('name, kit, hives(label, split_from)').eq('name', 'Piotr');
      expect(await getData(list.stripNulls())).toEqual([
        { name: 'Piotr', hives: [{ label: 'clover', split_from: 101 }] },
      ]);
      const one = db.from('hives').select('label, keeper').eq('id', 104).single().stripNulls();
      expect(await getData(one)).toEqual({ label: 'dusk' });
    });

    test('returns CSV with quotes, commas, nulls and JSON, for a table and a function', async () => {
      const { db } = index();
      const table = await db.from('keepers').select('name, since, kit, notes').order('name').csv();
      expect(table.data).toBe(
        'name,since,kit,notes\nOdile,1998,"{""suits"": 2, ""smoker"": {""fuel"": ""hay""}}",calm\nPiotr,' +
          '2012,,\nRuna,2005,"{""suits"": 1}",',
      );
      expect((await db.rpc('yields', { above: 1 }).csv()).data).toBe('hive,jars\namber,21\nclover,7');
    });

    test('returns plans as text and JSON, and refuses unknown media types', async () => {
      const { db, room: fixture } = index();
      const text = await db.from('hives').select().explain();
      expect(text.data).toMatch(/Aggregate {2}\(cost=/);
      const [json]: any = await getData(
        db.from('hives').select().explain({ format: 'json', analyze: true, verbose: true, buffers: true }),
      );
      expect(json.Plan).toMatchObject({ 'Actual Rows': 1, Output: expect.any(Array) });
      const reply = await fixture.request('/rest/v1/meadows', { headers: { accept: 'application/geo+json' } });
      expect([reply.status, (await reply.json()).code]).toEqual([406, 'PGRST107']);
    });

    test('changes nothing for the plan of a write or call, even when it is measured', async () => {
      const { db } = index();
      const texts = await Promise.all([
        db.from('plants').insert({ id: 77 }).select().explain({ analyze: true }),
        db.from('plants').update({ name: 'x' }).gt('id', 0).explain(),
        db.from('handovers').delete().gt('id', 0).explain({ analyze: true }),
        db.rpc('robbed', { above: 0 }).explain({ analyze: true }),
        db.rpc('swept').explain(),
      ]);
      const plans = texts.map(({ data }) => JSON.stringify(data));
      expect(texts.map(({ status }, index) => [status, /\(cost=.*rows=/.test(plans[index] ?? '')])).toEqual(
        texts.map(() => [200, true]),
      );
      expect(plans.map((plan) => /(Insert|Update|Delete) on (?:plants|handovers)/.exec(plan)?.[1])).toEqual([
        'Insert',
        'Update',
        'Delete',
        undefined,
        undefined,
      ]);
      expect(await getData(db.from('plants').select('count(), name.max()').single())).toEqual({
        count: 3,
        max: 'thyme',
      });
      expect(await getData(db.from('hives').select('kilos.sum()').single())).toEqual({ sum: 113.5 });
    });

    test('counts in every way, with and without the rows', async () => {
      const { db, room: fixture } = index();
      for (const count of ['exact', 'planned', 'estimated'] as const) {
        const head = await db.from('plants').select('*', { head: true, count });
        expect([head.status, head.count, head.data, head.error]).toEqual([200, 3, null, null]);
        const some = await db.from('plants').select('id', { count }).order('id').range(0, 1);
        expect([some.status, some.count, some.data]).toEqual([206, 3, [{ id: 1 }, { id: 2 }]]);
      }
      const none = await db.from('plants').select('*', { head: true });
      expect([none.status, none.count, none.data]).toEqual([200, null, null]);
      const emptyPage = await db.from('plants').select('*', { count: 'exact' }).range(10, 12);
      expect([emptyPage.status, emptyPage.error?.code]).toEqual([416, 'PGRST103']);
      // The client converts a 404 without a body to 204.
      const missing = await fixture.request('/rest/v1/hedges', { method: 'HEAD' });
      expect([missing.status, missing.headers.get('proxy-status')]).toEqual([404, 'PostgREST; error=PGRST205']);
    });

    test('returns times in another zone, and refuses unknown zones', async () => {
      const { room: fixture } = index();
      const get = async (prefer: string): Promise<unknown> => {
        const reply = await fixture.request('/rest/v1/rpc/noon', { headers: { prefer } });
        const body: any = await reply.json();
        return [reply.status, reply.headers.get('preference-applied'), body.details ?? body];
      };
      const [berlin, nowhere] = ['timezone=Europe/Berlin', 'timezone=Apiary/Hive'];
      expect(await get(berlin)).toEqual([200, berlin, '2025-06-01T14:00:00+02:00']);
      // PostgreSQL reads offsets like POSIX: east of Greenwich they are negative.
      expect(await get('timezone=+05:00')).toEqual([200, 'timezone=+05:00', '2025-06-01T07:00:00-05:00']);
      const message = 'invalid value for parameter "TimeZone": "Apiary/Hive"';
      for (const prefer of [nowhere, `handling=strict, ${nowhere}`]) {
        expect(await get(prefer)).toMatchObject([400, null, { code: '22023', message }]);
      }
    });

    test('names the schema in the response, and lists the exposed ones for another schema', async () => {
      const { db, room: fixture } = index();
      expect(await getData(db.schema('cellar').from('barrels').select('mead').order('id'))).toEqual([
        { mead: 'dry' },
        { mead: 'sweet' },
      ]);
      const reply = await fixture.request('/rest/v1/barrels?limit=1', { headers: { 'accept-profile': 'cellar' } });
      expect(reply.headers.get('content-profile')).toBe('cellar');
      await reply.body?.cancel();
      expect(await getError(db.schema('attic').from('barrels').select())).toEqual({
        status: 406,
        code: 'PGRST106',
        message: 'Invalid schema: attic',
        details: null,
        hint: 'Only the following schemas are exposed: public, cellar',
      });
    });
  });
}
