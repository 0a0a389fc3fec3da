import type { NewSubscription, StoredSubscription, SubscriptionChange } from '../domain/subscription.ts';
import { bad, toRequestFields, readAdd, type AddDefaults } from './add.ts';

const maxNameLength = 200;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of `POST /subscribe`: that of `/add` and the options of checks.
 * @throws Problem 400 with MeTube's message
 */
export function readSubscribe(
  body: Fields,
  defaults: AddDefaults & { readonly subscriptionInterval: number },
): NewSubscription {
  const { url, order } = readAdd(body, defaults);
  return {
    url,
    order,
    intervalMinutes: readInterval(body['check_interval_minutes']) ?? defaults.subscriptionInterval,
    titleRegex: readRegex(body['title_regex']) ?? '',
    skipMembersOnly: readFlag(body['skip_subscriber_only'], 'skip_subscriber_only') ?? false,
  };
}

/**
 * Reads the body of `POST /subscriptions/update`.
 * @throws Problem 400 with MeTube's message
 */
export function readUpdate(body: Fields): {
  readonly id: string;
  readonly change: Pick<
    SubscriptionChange,
    'name' | 'enabled' | 'intervalMinutes' | 'titleRegex' | 'skipMembersOnly'
  > & { readonly folder?: string };
} {
  const { id, folder } = body;
  if (typeof id !== 'string' || id === '') throw bad(`'id' must be a non-empty string`);
  if (folder !== undefined && folder !== null && typeof folder !== 'string') throw bad('folder must be a string');
  const change = {
    name: readName(body['name']),
    enabled: readFlag(body['enabled'], 'enabled'),
    intervalMinutes: readInterval(body['check_interval_minutes']),
    titleRegex: readRegex(body['title_regex']),
    skipMembersOnly: readFlag(body['skip_subscriber_only'], 'skip_subscriber_only'),
    folder: folder === undefined ? undefined : (folder ?? '').trim(),
  };
  return { id, change: Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) };
}

/** Subscription in an import; the name may be empty. */
export type PortableSubscription = NewSubscription & Pick<StoredSubscription, 'name' | 'enabled'>;

/**
 * Converts a subscription to the body of `POST /subscribe` that recreates it, with its name and whether it is enabled.
 */
export function toPortable({ url, name, enabled, order, ...options }: StoredSubscription): Record<string, unknown> {
  return {
    ...{ url, name, enabled, check_interval_minutes: options.intervalMinutes },
    ...{ title_regex: options.titleRegex, skip_subscriber_only: options.skipMembersOnly },
    ...toRequestFields(order),
  };
}

/** Reads what {@link toPortable} writes. @throws Problem 400, as for a request. */
export function readPortable(
  body: Fields,
  defaults: AddDefaults & { readonly subscriptionInterval: number },
): PortableSubscription {
  const options = readSubscribe(body, defaults);
  return {
    ...options,
    name: readName(body['name'] ?? undefined) ?? '',
    enabled: readFlag(body['enabled'], 'enabled') ?? true,
  };
}

/** Converts a subscription to MeTube's format, with its fields in MeTube's order; times are in seconds. */
export function toSubscriptionRecord(subscription: StoredSubscription): Record<string, unknown> {
  const { order } = subscription;
  return {
    id: subscription.id,
    name: subscription.name,
    url: subscription.url,
    enabled: subscription.enabled,
    check_interval_minutes: subscription.intervalMinutes,
    download_type: order.type,
    codec: order.codec,
    format: order.format,
    quality: order.quality,
    folder: order.folder ?? '',
    title_regex: subscription.titleRegex,
    skip_subscriber_only: subscription.skipMembersOnly,
    clip_start: order.clipStart,
    clip_end: order.clipEnd,
    last_checked: subscription.lastChecked === null ? null : subscription.lastChecked / 1000,
    seen_count: subscription.seen,
    error: subscription.error,
  };
}

function readInterval(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const minutes = typeof value === 'string' && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value;
  if (typeof minutes !== 'number' || !Number.isSafeInteger(minutes))
    throw bad('check_interval_minutes must be an integer');
  if (minutes < 1 || minutes > 44_640) throw bad('check_interval_minutes must be between 1 and 44640');
  return minutes;
}

function readRegex(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return '';
  if (typeof value !== 'string') throw bad('title_regex must be a string');
  return value.trim();
}

function readFlag(value: unknown, field: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (text === true || text === 'true' || text === '1' || text === 'on') return true;
  if (text === false || text === 'false' || text === '0' || text === 'off') return false;
  throw bad(`${field} must be a boolean`);
}

function readName(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw bad('name must be a string');
  const name = value.trim().replaceAll(/\s+/g, ' ');
  if (name === '') throw bad('name must not be empty');
  if (name.length > maxNameLength) throw bad(`name must be at most ${maxNameLength} characters`);
  return name;
}
