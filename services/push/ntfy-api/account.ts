import { AccountName, everyone, type Accounts, type Identity } from '../../contracts/control/accounts.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import { isTopic } from '../domain/topics.ts';
import type { ProfileStore, SubscriptionChange } from '../store/profiles.ts';
import type { SyncTopics } from '../access/sync-topics.ts';
import { Confirmation, Credential, PasswordChange, Preferences, Subscription } from '../wire/account.ts';
import { answerSuccess, requireUser, type ApiRoutes } from './api-routes.ts';
import { answerValue, type Exchange } from './exchange.ts';
import { readJson } from './json-body.ts';
import { listTokens } from './tokens.ts';
import { withNtfyRefusal } from './users.ts';

/** Rules for the creation of accounts. */
interface Registration {
  readonly isEnabled: () => boolean;
  /** @throws Problem 42906 when too many accounts were created from this address */
  readonly admit: (exchange: Exchange) => void;
}

export interface AccountDependencies {
  readonly accounts: Accounts;
  readonly profiles: ProfileStore;
  readonly syncTopics: SyncTopics;
  readonly clock: Clock;
  readonly registration: Registration;
  /** Returns limits and usage of the request's sender. */
  readonly getUsage: (exchange: Exchange) => Promise<object>;
  /** Returns whether a client names this server with a base URL. */
  readonly isOwnAddress: (exchange: Exchange, baseUrl: string) => boolean;
  /** Notifies other devices of the account about a change. */
  readonly notifyDevices: (account: string) => Promise<void>;
}

/** Routes of the caller's account: profile, password, preferences and subscribed topics. */
export function accountRoutes(dependencies: AccountDependencies): ApiRoutes {
  return {
    'GET /v1/account': (exchange) => answerAccount(dependencies, exchange),
    ...registrationRoutes(dependencies),
    ...preferenceRoutes(dependencies),
  };
}

/** Answers with the profile, usage and limits of the caller, who may have no account. */
async function answerAccount(
  { accounts, profiles, syncTopics, getUsage }: AccountDependencies,
  exchange: Exchange,
): Promise<void> {
  const { identity, response } = exchange;
  const usage = await getUsage(exchange);
  if (identity === undefined) {
    answerValue(response, { username: everyone, role: 'anonymous', ...usage });
    return;
  }
  const { account } = identity;
  if (identity.limited === true) {
    answerValue(response, { username: account, role: identity.role, ...usage });
    return;
  }
  const subscriptions = await profiles.subscriptions(account);
  const reservations = await profiles.reservations(account);
  const tokens = await listTokens(accounts, identity, exchange);
  answerValue(response, {
    username: account,
    role: identity.role,
    sync_topic: syncTopics.findTopic(account),
    ...(await profiles.preferences(account)),
    ...(subscriptions.length === 0 ? {} : { subscriptions: subscriptions.map(toSubscriptionJson) }),
    ...(reservations.length === 0 ? {} : { reservations }),
    ...(tokens.length === 0 ? {} : { tokens }),
    ...usage,
  });
}

/** Routes that create and delete accounts and change passwords. */
function registrationRoutes({ accounts, registration }: AccountDependencies): ApiRoutes {
  return {
    async 'POST /v1/account'(exchange) {
      if (!registration.isEnabled()) throw refuse('signup_off');
      if (exchange.identity !== undefined && exchange.identity.role !== 'admin') throw refuse('unauthorized');
      const { username: name, password } = await readJson(exchange, Credential);
      if (!AccountName.safeParse(name).success) throw refuse('username_invalid');
      if (password === '') throw refuse('invalid', 'password missing');
      if ((await accounts.find(name)) !== undefined) throw refuse('user_exists');
      registration.admit(exchange);
      await withNtfyRefusal(async () => {
        await accounts.refuseWeakPassword(name, password);
        return accounts.create({ name, password });
      });
      answerSuccess(exchange);
    },

    async 'DELETE /v1/account'(exchange) {
      const identity = requireUser(exchange);
      const { password } = await readJson(exchange, Confirmation);
      await confirmPassword(accounts, exchange, identity, password);
      await accounts.remove(identity.account);
      answerSuccess(exchange);
    },

    async 'POST /v1/account/password'(exchange) {
      const identity = requireUser(exchange);
      const { password, new_password } = await readJson(exchange, PasswordChange);
      if (password === '' || new_password === '') throw refuse('invalid');
      await confirmPassword(accounts, exchange, identity, password);
      await withNtfyRefusal(async () => {
        await accounts.refuseWeakPassword(identity.account, new_password);
        return accounts.change(identity.account, { password: new_password });
      });
      answerSuccess(exchange);
    },
  };
}

/** Routes of preferences and subscribed topics, which the apps of an account share. */
function preferenceRoutes({ profiles, clock, isOwnAddress, notifyDevices }: AccountDependencies): ApiRoutes {
  return {
    async 'PATCH /v1/account/settings'(exchange) {
      const { account } = requireUser(exchange);
      await profiles.updatePreferences(account, await readJson(exchange, Preferences));
      answerSuccess(exchange);
      await notifyDevices(account);
    },

    async 'POST /v1/account/subscription'(exchange) {
      const { account } = requireUser(exchange);
      const change = await readSubscription(exchange, isOwnAddress);
      const subscription = await profiles.subscribe(account, change, clock.now());
      if (subscription === undefined) throw refuse('subscription_exists');
      answerValue(exchange.response, toSubscriptionJson(subscription));
      await notifyDevices(account);
    },

    async 'PATCH /v1/account/subscription'(exchange) {
      const { account } = requireUser(exchange);
      const subscription = await readSubscription(exchange, isOwnAddress);
      if (!(await profiles.rename(account, subscription))) throw refuse('not_found');
      answerValue(exchange.response, toSubscriptionJson(subscription));
      await notifyDevices(account);
    },

    async 'DELETE /v1/account/subscription'(exchange) {
      const { account } = requireUser(exchange);
      const header = (name: string): string => String(exchange.request.headers[name] ?? '').trim();
      await profiles.unsubscribe(account, header('x-baseurl'), header('x-topic'));
      answerSuccess(exchange);
      await notifyDevices(account);
    },
  };
}

/** @throws Problem of ntfy when the password is wrong */
async function confirmPassword(
  accounts: Accounts,
  exchange: Exchange,
  { account }: Identity,
  password: string,
): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${account}:${password}`).toString('base64')}`;
  try {
    const { address: remoteAddress, foreignSite } = exchange;
    const verified = await accounts.authenticate({ authorization, remoteAddress, isCrossSite: foreignSite });
    if (verified?.via === 'password') return;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'accounts.bad_credentials') throw error;
  }
  throw refuse('wrong_confirmation');
}

async function readSubscription(
  exchange: Exchange,
  isOwnAddress: AccountDependencies['isOwnAddress'],
): Promise<SubscriptionChange> {
  const { base_url, topic, display_name } = await readJson(exchange, Subscription);
  if (!isTopic(topic)) throw refuse('topic_invalid');
  return { base_url, topic, display_name: display_name || null, isOwn: isOwnAddress(exchange, base_url) };
}

function toSubscriptionJson({
  base_url,
  topic,
  display_name,
}: {
  base_url: string;
  topic: string;
  display_name: string | null;
}) {
  return { base_url, topic, ...(display_name === null ? {} : { display_name }) };
}
