import type { Identity } from '../../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushQuietApi, type PushQuietState } from '../../contracts/push/quiet.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import type { People } from '../quiet/account-rules.ts';
import type { QuietStore } from '../store/quiet.ts';

export interface QuietParts {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit'>;
  readonly store: QuietStore;
  readonly people: People;
  /** Somebody's rules are others now. */
  readonly changed: () => Promise<void>;
}

/** What a person does with the own rules. */
export function quietHandlers({ context, store, people, changed }: QuietParts): readonly ApiHandler[] {
  const state = async (identity: Identity): Promise<PushQuietState> => {
    const { account, role } = identity;
    const readable = ({ topic }: { readonly topic: string }): boolean =>
      context.accounts.may(identity, 'push', 'read', topic);
    // Who is the first administrator to set anything decides about the machine's popups too.
    const first = role === 'admin' && people.followed === null;
    const { rules, zone, popups } = people.quiet(account) ?? { rules: [], zone: null, popups: first };
    const held = (await store.heldTopics(account)).filter(readable);
    const urgent = (await store.urgent(account)).filter(readable);
    return {
      quiet: { rules: [...rules], zone, popups: role === 'admin' && popups },
      popupsFollow: role === 'admin' ? people.followed : null,
      machineZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      held: held.map(({ topic, messages }) => ({ topic, messages })),
      urgent: urgent.map(({ id, topic, text, time, due }) => ({ id, topic, title: titleOf(text), time, next: due })),
    };
  };

  return [
    implement(pushQuietApi.read, ({ identity }) => state(person(identity))),

    implement(pushQuietApi.change, async ({ identity, body }) => {
      const { account, role } = person(identity);
      const quiet = { ...body, popups: body.popups && role === 'admin' };
      await context.commit((transaction) => store.put(transaction, account, quiet, context.clock.now()));
      await changed();
      return state(person(identity));
    }),

    implement(pushQuietApi.acknowledge, async ({ body }) => {
      await context.commit((transaction) => store.acknowledge(transaction, body.id));
      return { ok: true };
    }),
  ];
}

function person(identity: Identity | undefined): Identity {
  if (identity !== undefined) return identity;
  throw new Problem('push.nobody', 401, 'Sign in to have quiet hours of your own.');
}

function titleOf(text: string): string {
  const { title, message = '' } = JSON.parse(text) as Message;
  return (title ?? message).slice(0, 120);
}
