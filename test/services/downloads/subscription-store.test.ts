import { expect, it } from 'vitest';
import { defaultOrderOptions, type Order } from '../../../services/downloads/domain/order.ts';
import { migrations } from '../../../services/downloads/migrations.ts';
import type { StoredSubscription } from '../../../services/downloads/domain/subscription.ts';
import { SubscriptionStore } from '../../../services/downloads/subscriptions/store.ts';
import { eachDialect } from '../../support/database.ts';

function subscription(id: string, fields: Partial<StoredSubscription> = {}): Omit<StoredSubscription, 'seen'> {
  const order: Order = {
    type: 'video',
    codec: 'auto',
    format: 'mp4',
    quality: '720',
    folder: 'shows',
    prefix: 'x',
    itemLimit: 5,
    autoStart: false,
    login: null,
    ...defaultOrderOptions,
    sponsorblock: true,
  };
  return {
    ...{ id, url: `http://a/${id}`, name: `${id} \u{1f3ac}`, order, enabled: true, intervalMinutes: 60 },
    ...{ titleRegex: '', skipMembersOnly: true, createdAt: 1_795_227_620_292, lastChecked: null },
    ...{
      nextCheck: 1_795_227_620_292,
      lastFound: null,
      found: 3,
      error: null,
      failure: null,
      failureParameters: null,
      failures: 0,
      picture: null,
    },
    ...fields,
  };
}

eachDialect((_name, open) => {
  const newStore = async (): Promise<SubscriptionStore> => {
    const database = await open();
    await database.migrate(migrations);
    return new SubscriptionStore(database.kysely);
  };

  it('returns stored subscriptions unchanged, with their seen entries', async () => {
    const store = await newStore();
    await store.insert(subscription('a'));
    expect(await store.markSeen('a', ['1', '2', '2', '3'])).toEqual(new Set(['1', '2', '3']));
    expect(await store.markSeen('a', ['3', '4'])).toEqual(new Set(['4']));
    expect(await store.find('a')).toEqual({ ...subscription('a'), seen: 4 });
    expect(await store.findByUrl('http://a/a')).toMatchObject({ id: 'a' });
    expect(await store.change('a', { error: 'gone\0', failures: 2, enabled: false })).toMatchObject({
      ...{ error: 'gone\ufffd', failures: 2, enabled: false, order: { sponsorblock: true, folder: 'shows' } },
    });
    expect(await store.change('none', { failures: 1 })).toBeUndefined();
  });

  it('claims due subscriptions once, and never paused or removed ones', async () => {
    const store = await newStore();
    const now = 1000;
    for (const id of ['due', 'paused', 'removed']) await store.insert(subscription(id, { nextCheck: now }));
    await store.insert(subscription('later', { nextCheck: now + 1 }));
    await store.change('paused', { enabled: false });
    await store.remove(['removed'], now);
    expect(await store.claimDue(now, now + 500)).toEqual(['due']);
    expect(await store.claimDue(now, now + 500)).toEqual([]);
    expect(await store.claimDue(now + 500, now + 1000)).toEqual(expect.arrayContaining(['due', 'later']));
  });

  it('keeps seen entries of a removed subscription until it is deleted', async () => {
    const store = await newStore();
    await store.insert(subscription('a'));
    await store.markSeen('a', ['1']);
    expect(await store.remove(['a', 'none'], 1000)).toEqual(['a']);
    expect(await store.list()).toEqual([]);
    await store.deleteRemoved(1000);
    expect(await store.restore(['a'])).toEqual(['a']);
    expect(await store.list()).toMatchObject([{ id: 'a', seen: 1 }]);
    await store.remove(['a'], 2000);
    await store.deleteRemoved(3000);
    expect(await store.restore(['a'])).toEqual([]);
    await store.insert(subscription('a'));
    expect(await store.find('a')).toMatchObject({ seen: 0 });
  });
});
