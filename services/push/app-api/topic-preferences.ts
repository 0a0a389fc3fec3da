import * as m from '#messages/push-problems';
import type { Identity } from '../../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { topicPreferencesApi } from '../../contracts/push/topic-preferences.ts';
import type { TopicPreferenceStore } from '../store/topic-preferences.ts';
import type { TopicPermissions } from './topic-permissions.ts';

export interface TopicPreferenceDependencies {
  readonly store: TopicPreferenceStore;
  readonly permissions: Pick<TopicPermissions, 'require'>;
  /** Notifies the apps of an account, which load the display names again. */
  readonly notifyDevices: (account: string) => Promise<void>;
}

/** Handlers for display names and sounds of topics. */
export function topicPreferenceHandlers({
  store,
  permissions,
  notifyDevices,
}: TopicPreferenceDependencies): readonly ApiHandler[] {
  return [
    implement(topicPreferencesApi.list, async ({ identity }) => ({
      topics: [...(await store.list(requireAccount(identity)))],
    })),
    implement(topicPreferencesApi.change, async ({ identity, params, body }) => {
      const topic = permissions.require(identity, 'read', params['topic']);
      const account = requireAccount(identity);
      await store.set(account, { topic, ...body });
      await notifyDevices(account);
      return { topics: [...(await store.list(account))] };
    }),
  ];
}

function requireAccount(identity: Identity | undefined): string {
  if (identity !== undefined) return identity.account;
  throw new Problem('push.nobody', 401, m.topicPreferencesNeedAccount());
}
