import { expect, it, vi } from 'vitest';
import { CachedRows } from '../../../services/kit/cached-rows.ts';
import { silentLog } from '../../support/database-location.ts';
import { connectBuses } from '../../support/fake-relay.ts';

it('reads rows again after another host changed them, or its events were lost', async () => {
  const buses = connectBuses();
  const reload = vi.fn(() => Promise.resolve());
  const own = vi.fn(() => Promise.resolve());
  const first = new CachedRows({ bus: buses.first, log: silentLog, rows: 'push.rules', reload: own });
  const second = new CachedRows({ bus: buses.second, log: silentLog, rows: 'push.rules', reload });
  const others = new CachedRows({ bus: buses.first, log: silentLog, rows: 'git.owners', reload });
  using _first = first.follow();
  const following = second.follow();
  first.changed();
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(1));
  others.changed();
  buses.isDown = true;
  first.changed();
  buses.reconnect();
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(2));
  expect(own).toHaveBeenCalledTimes(1);
  following[Symbol.dispose]();
  first.changed();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reload).toHaveBeenCalledTimes(2);
});

it('logs a failure and reads again after the next change', async () => {
  const buses = connectBuses();
  const warn = vi.fn();
  const reload = vi.fn(() => Promise.resolve()).mockRejectedValueOnce(new Error('unreachable'));
  const rows = new CachedRows({ bus: buses.second, log: { ...silentLog, warn }, rows: 'push.rules', reload });
  using _following = rows.follow();
  const other = new CachedRows({ bus: buses.first, log: silentLog, rows: 'push.rules', reload });
  other.changed();
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce());
  other.changed();
  await vi.waitFor(() => expect(reload).toHaveBeenCalledTimes(2));
});
