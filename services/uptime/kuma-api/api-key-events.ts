import type { Context } from '../../contracts/service.ts';
import type { ApiKey } from '../../contracts/uptime/views.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { toNumber, toTranslatedMessage, toText, type SocketEvents, type SocketDependencies } from './events.ts';
import { toRecord } from '../../contracts/is-record.ts';

/** Returns the calls for API keys. */
export function apiKeyEvents({ stores: { keys }, context }: SocketDependencies): SocketEvents {
  return {
    addAPIKey: {
      needs: 'write',
      async run(_session, input) {
        const { name, expires, active } = toRecord(input);
        const until = Date.parse(`${toText(expires).replace(' ', 'T')}Z`);
        const { id, key } = await keys.add(toText(name) || 'key', Number.isNaN(until) ? null : until, active !== false);
        return toTranslatedMessage('successAdded', { key, keyID: id });
      },
    },
    getAPIKeyList: {
      needs: 'write',
      async run(session) {
        session.emit('apiKeyList', await apiKeyList(keys, context));
        return {};
      },
    },
    enableAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.setActive(toNumber(id), true);
        return toTranslatedMessage('successEnabled');
      },
    },
    disableAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.setActive(toNumber(id), false);
        return toTranslatedMessage('successDisabled');
      },
    },
    deleteAPIKey: {
      needs: 'write',
      async run(_session, id) {
        await keys.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
  };
}

/** Returns all API keys. */
export async function apiKeyList(
  keys: ApiKeys,
  context: Pick<Context, 'clock'>,
): Promise<readonly Record<string, unknown>[]> {
  return (await keys.list()).map((key) => toKumaApiKey(key, context.clock.now()));
}

function toKumaApiKey({ id, name, createdAt, expires, active }: ApiKey, now: number): Record<string, unknown> {
  const isExpired = expires !== null && expires <= now;
  return {
    id,
    name,
    userID: 1,
    createdDate: formatKumaTime(createdAt).slice(0, 19),
    active,
    expires: expires === null ? null : formatKumaTime(expires).slice(0, 19),
    status: isExpired ? 'expired' : active ? 'active' : 'inactive',
  };
}
