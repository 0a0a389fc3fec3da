import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBus } from '../../../main/host/services/bus.ts';
import { accountsChanged, accountsRemoved } from '../../../services/contracts/control/accounts.ts';
import { deleteWithAccount } from '../../../services/kit/delete-with-account.ts';
import { silentLog } from '../../support/place.ts';

it('What is kept of an account is forgotten when it is removed, and a failure is told to the log', async () => {
  const bus = createBus(silentLog);
  const forgotten: string[] = [];
  const complaints: unknown[] = [];
  const log = { ...silentLog, error: (...words: unknown[]) => complaints.push(words) };
  const failure = new Error('no table');
  const open = deleteWithAccount({ bus, log }, 'plans', async (account) => {
    forgotten.push(account);
    if (account === 'bob') throw failure;
  });
  bus.publish(accountsChanged, { account: 'ann' });
  await nextTurn();
  expect(forgotten).toEqual([]);
  bus.publish(accountsRemoved, { account: 'ann' });
  bus.publish(accountsRemoved, { account: 'bob' });
  await nextTurn();
  expect(forgotten).toEqual(['ann', 'bob']);
  expect(complaints).toEqual([['an account kept its plans', { account: 'bob', error: failure }]]);
  open[Symbol.dispose]();
  bus.publish(accountsRemoved, { account: 'cleo' });
  await nextTurn();
  expect(forgotten).toHaveLength(2);
});
