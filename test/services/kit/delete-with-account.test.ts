import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBus } from '../../../main/host/services/bus.ts';
import { accountsChanged, accountsRemoved } from '../../../services/contracts/control/accounts.ts';
import { deleteWithAccount } from '../../../services/kit/delete-with-account.ts';
import { silentLog } from '../../support/database-location.ts';

it('deletes the data of removed accounts and logs a failure', async () => {
  const bus = createBus(silentLog);
  const deleted: string[] = [];
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (...args: unknown[]) => errors.push(args) };
  const failure = new Error('no table');
  const open = deleteWithAccount({ bus, log }, 'plans', async (account) => {
    deleted.push(account);
    if (account === 'bob') throw failure;
  });
  bus.publish(accountsChanged, { account: 'ann' });
  await nextTurn();
  expect(deleted).toEqual([]);
  bus.publish(accountsRemoved, { account: 'ann' });
  bus.publish(accountsRemoved, { account: 'bob' });
  await nextTurn();
  expect(deleted).toEqual(['ann', 'bob']);
  expect(errors).toEqual([['account data deletion failed', { account: 'bob', data: 'plans', error: failure }]]);
  open[Symbol.dispose]();
  bus.publish(accountsRemoved, { account: 'cleo' });
  await nextTurn();
  expect(deleted).toHaveLength(2);
});
