import * as m from '#messages/push-problems';
import type { Identity } from '../../contracts/control/accounts.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushQuietApi, type PushQuietState } from '../../contracts/push/quiet.ts';
import type { MutedTopic } from '../../contracts/push/rules.ts';
import type { Context } from '../../contracts/service.ts';
import type { Message } from '../domain/message.ts';
import type { AccountRules } from '../quiet/account-rules.ts';
import type { QuietStore } from '../store/quiet.ts';
import type { TopicPermissions } from './topic-permissions.ts';

/** Maximum number of topics that an account mutes at the same time; the oldest is unmuted first. */
const maxMuted = 200;

export interface QuietDependencies {
  readonly context: Pick<Context, 'accounts' | 'clock' | 'commit'>;
  readonly store: QuietStore;
  readonly accountRules: AccountRules;
  readonly permissions: Pick<TopicPermissions, 'require'>;
  /** Called after the rules of an account changed. */
  readonly onChanged: () => Promise<void>;
}

/** Handlers for the quiet-hours rules of the caller's account. */
export function quietHandlers(dependencies: QuietDependencies): readonly ApiHandler[] {
  const { context, store, accountRules, permissions, onChanged } = dependencies;
  /** Returns the topics that are muted now. */
  const listMuted = (account: string): MutedTopic[] =>
    (accountRules.quiet(account)?.muted ?? []).filter(({ until }) => until > context.clock.now());
  const readState = async (identity: Identity): Promise<PushQuietState> => {
    const { account, role } = identity;
    const readable = ({ topic }: { readonly topic: string }): boolean =>
      context.accounts.may(identity, 'push', 'read', topic);
    // The first administrator who saves rules also controls the popups of this computer.
    const isFirstAdministrator = role === 'admin' && accountRules.popupAccount === null;
    const { rules, zone, popups } = accountRules.quiet(account) ?? {
      rules: [],
      zone: null,
      muted: [],
      popups: isFirstAdministrator,
    };
    const readableTopics = (await store.heldTopics(account)).filter(readable);
    const urgent = (await store.urgent(account)).filter(readable);
    return {
      quiet: { rules: [...rules], zone, muted: listMuted(account), popups: role === 'admin' && popups },
      popupsFollow: role === 'admin' ? accountRules.popupAccount : null,
      machineZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      held: readableTopics.map(({ topic, messages }) => ({ topic, messages })),
      urgent: urgent.map(({ id, topic, text, time, due }) => ({ id, topic, title: getTitle(text), time, next: due })),
    };
  };

  return [
    implement(pushQuietApi.read, ({ identity }) => readState(requireAccount(identity))),

    implement(pushQuietApi.change, async ({ identity, body }) => {
      const { account, role } = requireAccount(identity);
      const quiet = { ...body, popups: body.popups && role === 'admin' };
      await context.commit((transaction) => store.put(transaction, account, quiet, context.clock.now()));
      await onChanged();
      return readState(requireAccount(identity));
    }),

    implement(pushQuietApi.muted, ({ identity }) => ({ muted: listMuted(requireAccount(identity).account) })),

    implement(pushQuietApi.mute, async ({ identity, params, body: { until } }) => {
      const topic = permissions.require(identity, 'read', params['topic']);
      const { account } = requireAccount(identity);
      const now = context.clock.now();
      const others = listMuted(account).filter((each) => each.topic !== topic);
      const muted = until === null || until <= now ? others : [...others.slice(-maxMuted + 1), { topic, until }];
      const quiet = accountRules.quiet(account) ?? { rules: [], zone: null, popups: false };
      await context.commit((transaction) => store.put(transaction, account, { ...quiet, muted }, now));
      await onChanged();
      return { muted };
    }),

    implement(pushQuietApi.acknowledge, async ({ body }) => {
      await context.commit((transaction) => store.acknowledge(transaction, body.id));
      return { ok: true };
    }),
  ];
}

function requireAccount(identity: Identity | undefined): Identity {
  if (identity !== undefined) return identity;
  throw new Problem('push.nobody', 401, m.quietHoursNeedAccount());
}

function getTitle(text: string): string {
  const { title, message = '' } = JSON.parse(text) as Message;
  return (title ?? message).slice(0, 120);
}
