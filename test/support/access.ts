import type { Grant } from '../../services/contracts/control/accounts.ts';
import { api } from './api.ts';
import { admin, openTestHost, type TestHost, type TestHostOptions } from './host.ts';

/** Password of all accounts that {@link openAccessHost} creates. */
export const accessPassword = 'velvet-otter-93-lantern';

/** Name of the caller without credentials. */
export const anonymous = 'anonymous';

export interface AccessHost extends AsyncDisposable {
  readonly rig: TestHost;
  /** Returns the Authorization header of an account; of the administrator for `admin`, nothing for `anonymous`. */
  authorization(account: string): Record<string, string>;
  /** Sends a request to a service as an account. A body that is not text is sent as JSON. */
  call(account: string, service: string, method: string, path: string, body?: unknown): Promise<Response>;
}

/**
 * Opens a host for access tests with the accounts `nogrant`, those of `accounts` with their grants, and `admin`, its
 * administrator.
 */
export async function openAccessHost(
  accounts: Readonly<Record<string, readonly Grant[]>>,
  options: TestHostOptions = {},
): Promise<AccessHost> {
  const rig = await openTestHost(options);
  const base = rig.url('control');
  for (const [name, grants] of Object.entries({ nogrant: [], ...accounts })) {
    await api(base, '/api/accounts', {
      method: 'POST',
      body: JSON.stringify({ name, password: accessPassword, grants }),
    });
  }
  const authorization = (account: string): Record<string, string> => {
    if (account === anonymous) return {};
    const [name, password] = account === 'admin' ? [admin.name, admin.password] : [account, accessPassword];
    return { Authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` };
  };
  return {
    rig,
    authorization,
    async call(account, service, method, path, body) {
      const isText = body === undefined || typeof body === 'string';
      return fetch(`${rig.url(service)}${path}`, {
        method,
        redirect: 'manual',
        headers: { ...authorization(account), ...(isText ? {} : { 'Content-Type': 'application/json' }) },
        ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
      });
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}
