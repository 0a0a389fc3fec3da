import { expect, it } from 'vitest';
import { migrations } from '../../../../services/push/store/migrations.ts';
import { QuietStore, type HeldMessage, type UrgentMessage } from '../../../../services/push/store/quiet.ts';
import { eachDialect } from '../../../support/database.ts';
import { collectPlans } from '../../../support/query-plans.ts';

eachDialect((dialect, open) => {
  const openStore = async () => {
    const database = await open();
    await database.migrate(migrations);
    return { database, store: new QuietStore(database.kysely) };
  };
  const toHeld = (account: string, topic: string, sequence: string, key = sequence): HeldMessage => ({
    account,
    topic,
    sequence,
    key,
  });
  const urgent = (account: string, sequence: string, due = 10): UrgentMessage => ({
    ...toHeld(account, 'alarms', sequence),
    id: `${account}-${sequence}`,
    text: '{}',
    time: 0,
    due,
  });

  it('stores rules, with popups for one account only', async () => {
    const { database, store } = await openStore();
    const rules = [{ topics: '*', mode: 'silent' as const, quiet: [], repeatMinutes: null }];
    const putRules = (account: string, popups: boolean) =>
      database.commit((transaction) => store.put(transaction, account, { rules, zone: null, muted: [], popups }, 1));
    await putRules('ada', true);
    await putRules('mia', true);
    await putRules('tom', false);
    await putRules('tom', false);
    const people = await store.accountRules();
    expect(people.map(({ account, quiet }) => [account, quiet.popups]).sort()).toEqual([
      ['ada', false],
      ['mia', true],
      ['tom', false],
    ]);
    expect(people[0]?.quiet.rules).toEqual(rules);
    await database.commit((transaction) => store.removeAccount(transaction, 'mia'));
    expect(await store.accountRules()).toHaveLength(2);
  });

  it('counts a sequence once, removes read and superseded messages, and returns a topic to one caller', async () => {
    const { database, store } = await openStore();
    const messages = [
      toHeld('ada', 'a', '1'),
      toHeld('ada', 'a', '2'),
      toHeld('ada', 'b', '1'),
      toHeld('mia', 'a', '1'),
    ];
    await database.commit((transaction) => store.hold(transaction, messages));
    await database.commit((transaction) =>
      store.hold(transaction, [toHeld('ada', 'a', '2', 'newer'), ...messages.slice(3)]),
    );
    expect(await store.heldTopics('ada')).toEqual([
      { account: 'ada', topic: 'a', messages: 2 },
      { account: 'ada', topic: 'b', messages: 1 },
    ]);
    await database.commit((transaction) => store.removeRead(transaction, ['newer', 'unknown']));
    await database.commit((transaction) => store.supersede(transaction, 'b', '1'));
    expect(await store.heldTopics()).toHaveLength(2);
    const takeTopic = () =>
      database.commit((transaction) => store.takeHeld(transaction, { account: 'ada', topic: 'a' }));
    expect((await Promise.all([takeTopic(), takeTopic()])).sort()).toEqual([0, 1]);
    expect(await store.heldTopics()).toEqual([{ account: 'mia', topic: 'a', messages: 1 }]);
  });

  it('reschedules an urgent message once, and limits an account to twenty', async () => {
    const { database, store } = await openStore();
    const repeat = (message: UrgentMessage) => database.commit((transaction) => store.repeat(transaction, message));
    expect(await repeat(urgent('ada', 'fire'))).toBe(true);
    const [first] = await store.urgent();
    const move = () => database.commit((transaction) => store.reschedule(transaction, first ?? urgent('', ''), 20));
    expect((await Promise.all([move(), move()])).sort()).toEqual([false, true]);
    for (let count = 1; count < 20; count += 1) expect(await repeat(urgent('ada', String(count)))).toBe(true);
    expect(await repeat(urgent('ada', 'more'))).toBe(false);
    expect(await repeat(urgent('mia', 'fire'))).toBe(true);
    await database.commit((transaction) => store.acknowledge(transaction, 'ada-fire'));
    expect(await store.urgent('ada')).toHaveLength(19);
    expect((await store.urgent()).map(({ due }) => due)).toEqual(Array(20).fill(10));
  });

  it('uses an index with 50,000 held messages', async () => {
    const { database } = await openStore();
    await database.commit(async (transaction) => {
      const rows = Array.from({ length: 50_000 }, (_, index) =>
        toHeld(`a${String(index % 50)}`, `t${String(index % 300)}`, String(index)),
      );
      for (let offset = 0; offset < rows.length; offset += 1000) {
        await transaction
          .insertInto('quiet_held')
          .values(rows.slice(offset, offset + 1000))
          .execute();
      }
    });
    const plans = await collectPlans(dialect, database.kysely, async (db) => {
      const explainedStore = new QuietStore(db);
      await explainedStore.heldTopics('a7');
      await explainedStore.supersede(db, 't7', '7');
      await explainedStore.removeRead(db, ['7', '8']);
      await explainedStore.takeHeld(db, { account: 'a7', topic: 't7' });
    });
    expect(plans).not.toMatch(/SCAN quiet_held(?! USING)|Seq Scan on quiet_held/);
  });
});
