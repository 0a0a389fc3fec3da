import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { topicOf } from './topic-field.ts';

/** What a person may do with topics, for the routes of our own API. */
export interface TopicRights {
  may(identity: Identity | undefined, permission: 'read' | 'write', topic: string): boolean;
  /**
   * The topic of this name. @throws Problem `push.invalid` (422) when it is none, `push.forbidden` (403).
   */
  require(identity: Identity | undefined, permission: 'read' | 'write', name: string | undefined): string;
}

export function topicRights(accounts: Pick<Accounts, 'may'>, reserved: ReadonlySet<string>): TopicRights {
  const may: TopicRights['may'] = (identity, permission, topic) => accounts.may(identity, 'push', permission, topic);
  return {
    may,
    require(identity, permission, name) {
      const topic = topicOf(name, reserved);
      if (may(identity, permission, topic)) return topic;
      const what = permission === 'read' ? 'read' : 'publish to';
      throw new Problem('push.forbidden', 403, `You may not ${what} ${topic}. An administrator can grant it.`);
    },
  };
}
