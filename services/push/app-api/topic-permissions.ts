import * as m from '#messages/push-problems';
import type { Accounts, Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import { parseTopic } from './topic-field.ts';

/** Permissions on topics for the handlers of the app API. */
export interface TopicPermissions {
  may(identity: Identity | undefined, permission: 'read' | 'write', topic: string): boolean;
  /**
   * Returns the topic of this name.
   *
   * @throws Problem `push.invalid` (422) for an invalid name, `push.forbidden` (403)
   */
  require(identity: Identity | undefined, permission: 'read' | 'write', name: string | undefined): string;
}

export function createTopicPermissions(
  accounts: Pick<Accounts, 'may'>,
  reserved: ReadonlySet<string>,
): TopicPermissions {
  const may: TopicPermissions['may'] = (identity, permission, topic) =>
    accounts.may(identity, 'push', permission, topic);
  return {
    may,
    require(identity, permission, name) {
      const topic = parseTopic(name, reserved);
      if (may(identity, permission, topic)) return topic;
      const detail = permission === 'read' ? m.readDenied({ topic }) : m.publishDenied({ topic });
      throw new Problem('push.forbidden', 403, detail);
    },
  };
}
