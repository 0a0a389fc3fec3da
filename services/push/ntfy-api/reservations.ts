import { everyone, type Accounts } from '../../contracts/control/accounts.ts';
import { parsePermission, formatPermission } from '../domain/permission-names.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopic, requireTopic } from '../domain/topics.ts';
import { parseFlag } from '../domain/parameters.ts';
import type { ProfileStore } from '../store/profiles.ts';
import { Reservation } from '../wire/account.ts';
import { answerSuccess, requireAdmin, requireUser, type ApiRoutes } from './api-routes.ts';
import { readJson } from './json-body.ts';

export interface ReservationDependencies {
  readonly accounts: Accounts;
  readonly profiles: ProfileStore;
  readonly reserved: ReadonlySet<string>;
  /** Notifies other devices of the account about a change. */
  readonly notifyDevices: (account: string) => Promise<void>;
}

/**
 * Routes of reserved topics: a grant for the owner and one for everyone. In ntfy, users need a paid tier and
 * administrators do not; here they are reserved for administrators.
 */
export function reservationRoutes({ accounts, profiles, reserved, notifyDevices }: ReservationDependencies): ApiRoutes {
  return {
    async 'POST /v1/account/reservation'(exchange) {
      const { account } = requireAdmin(exchange);
      const { topic: text, everyone: permissionName } = await readJson(exchange, Reservation);
      const topic = requireTopic(text, reserved);
      const permission = parsePermission(permissionName);
      if (permission === undefined) throw refuse('permission_invalid');
      const others = (await accounts.list()).filter(({ name }) => name !== account);
      const isGranted = others.some(({ grants }) =>
        grants.some((each) => each.service === 'push' && each.resource === topic),
      );
      const owner = await profiles.findOwner(topic);
      // An administrator may take over a topic that is kept of a removed account.
      if (owner !== undefined && (await accounts.find(owner)) === undefined)
        await profiles.moveReservations(owner, account, [topic]);
      if (isGranted || !(await profiles.reserve(account, topic, formatPermission(permission))))
        throw refuse('topic_taken');
      await accounts.setGrant(account, 'push', topic, 'read-write');
      await accounts.setGrant(everyone, 'push', topic, permission);
      answerSuccess(exchange);
      await notifyDevices(account);
    },

    async 'DELETE /v1/account/reservation/*'(exchange, topic) {
      const { account } = requireUser(exchange);
      if (!isTopic(topic)) throw refuse('topic_invalid');
      const withMessages = parseFlag(exchange.read('x-delete-messages'), false);
      if (!(await profiles.release(account, topic, withMessages))) throw refuse('unauthorized');
      await accounts.setGrant(account, 'push', topic, undefined);
      await accounts.setGrant(everyone, 'push', topic, undefined);
      answerSuccess(exchange);
      await notifyDevices(account);
    },
  };
}
