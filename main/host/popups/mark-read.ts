import type { ApiHandler } from '../../../services/contracts/api.ts';
import { inboxApi } from '../../../services/contracts/inbox/api.ts';
import { hostRights } from '../../../services/contracts/route-access.ts';

/** Most rows the inbox takes in one call. */
const atOnce = 1000;

/** Marks inbox rows as read for the person at the screen, through the inbox's own API, without HTTP. */
export function inboxMarker(handlers: () => readonly ApiHandler[]): (ids: readonly number[]) => Promise<void> {
  return async (ids) => {
    const change = handlers().find(({ route }) => route === inboxApi.change);
    for (let at = 0; change !== undefined && at < ids.length; at += atOnce) {
      await change.handle({
        params: {},
        query: undefined,
        body: { ids: ids.slice(at, at + atOnce), read: true },
        identity: undefined,
        rights: hostRights,
        remoteAddress: '',
        userAgent: '',
        setHeader: () => undefined,
      });
    }
  };
}
