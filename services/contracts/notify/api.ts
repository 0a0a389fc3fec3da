import * as m from '#messages/notify-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { NotifyHistoryEntry } from './history.ts';
import { NotifyFailureCode } from './statistics.ts';
import { NotifyKeyOptions, NotifyKeySecret } from './options.ts';
import { DeliveryArguments } from './delivery.ts';
import { DestinationForm, FilledForm, FormValues } from './forms.ts';

/** Name of a configuration key, as Apprise API defines it. */
export const NotifyKeyName = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/, { error: m.keyInvalid });

/** Delivery results of a destination. */
export const NotifyHealth = z.object({
  /** Result of the latest notification. */
  state: z.enum(['waiting', 'done', 'dead']),
  detail: z.string(),
  /** Code of the failure; empty without one. */
  code: z.union([NotifyFailureCode, z.literal('')]),
  time: z.number().describe('ms since the epoch'),
  lastSuccess: z.number().nullable(),
});
export type NotifyHealth = z.infer<typeof NotifyHealth>;

/** Destination of a configuration key. Its secrets are masked and never leave the host. */
export const NotifyDestination = z
  .object({
    /** Line in the configuration, from 1; together with the fingerprint it identifies the destination. */
    line: z.int(),
    id: z.string(),
    service: z.string(),
    /** Secrets are masked. */
    url: z.string(),
    /** Tags of its own line. */
    tags: z.array(z.string()),
    /** Its own tags and the names of its groups. */
    effectiveTags: z.array(z.string()),
    /** Delivery options in its address. */
    delivery: DeliveryArguments,
    /** Null before the first delivery. */
    health: NotifyHealth.nullable(),
    /** Arguments of its address that have no effect in Homeport. */
    ignored: z.array(z.string()).default([]),
    /** Waits for the Apprise engine, which is not installed. */
    needsEngine: z.boolean().default(false),
  })
  .meta({ id: 'NotifyDestination' });
export type NotifyDestination = z.infer<typeof NotifyDestination>;

/** Ignored line with the reason. */
export const NotifySkipped = z.object({
  line: z.int(),
  reason: z.string(),
  /** The Apprise engine would support the line. */
  needsEngine: z.boolean().optional(),
});

/** Configuration key of the Apprise API with its destinations; secrets in addresses are redacted. */
export const NotifyKey = z
  .object({
    key: z.string(),
    /** Format of the configuration: `text` or `yaml`. */
    format: z.string(),
    options: NotifyKeyOptions,
    /** A secret is set: only signed or authenticated requests may post. */
    signed: z.boolean(),
    /**
     * Callers that may read and change the key over the API of Apprise. A setting can override the key's own option.
     */
    configurableBy: z.enum(['programs', 'administrators', 'nobody']),
    destinations: z.array(NotifyDestination),
    /** Ignored lines with the reasons. */
    skipped: z.array(NotifySkipped),
  })
  .meta({ id: 'NotifyKey' });
export type NotifyKey = z.infer<typeof NotifyKey>;

/** Result of a tag expression for one destination, with the reason. */
export const NotifyTagMatch = z.object({
  line: z.int(),
  service: z.string(),
  url: z.string(),
  effectiveTags: z.array(z.string()),
  chosen: z.boolean(),
  why: z.string(),
});
export type NotifyTagMatch = z.infer<typeof NotifyTagMatch>;

/** Parsed configuration before it is saved: all destinations and the ignored lines. */
export const NotifyPreview = z.object({
  format: z.string(),
  /** Secrets are masked. */
  destinations: z.array(
    z.object({ line: z.int(), service: z.string(), url: z.string(), effectiveTags: z.array(z.string()) }),
  ),
  skipped: NotifyKey.shape.skipped,
});
export type NotifyPreview = z.infer<typeof NotifyPreview>;

/** Result of a test notification to one destination. */
export const NotifyTestResult = z.object({
  line: z.int(),
  url: z.string(),
  ok: z.boolean(),
  /** HTTP status; null without a response. */
  status: z.int().nullable(),
  detail: z.string(),
  /** Code of the failure; empty without one. */
  code: z.union([NotifyFailureCode, z.literal('')]),
  /** Beginning of the response, secrets masked. */
  words: z.string(),
  durationMs: z.int(),
});
export type NotifyTestResult = z.infer<typeof NotifyTestResult>;

const named = { line: z.int().min(1), id: z.string() };
const tags = z.array(z.string().regex(/^(\d{1,9}:)?[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, { error: m.tagInvalid })).max(50);
const url = z.string().trim().min(1, { error: m.addressMissing }).max(4096);
/** Destination as an address or as a form, with delivery options for both. */
const linePath = {
  url: url.optional(),
  form: z.object({ scheme: z.string(), values: FormValues }).optional(),
  delivery: DeliveryArguments.optional(),
};
const delivery = z.object({ notice: z.string(), destination: z.string() });
const text = z.string().max(512 * 1024);
const ok = z.object({ ok: z.literal(true) });

/** Failure reason as in the statistics; without one, all failures match. */
const cause = z.string().max(10_000).optional();

/** Routes for keys, destinations and the history, for administrators only: addresses contain secrets. */
export const notifyApi = {
  keys: defineRoute({
    method: 'GET',
    path: '/api/notify/keys',
    summary: 'Lists all keys with their destinations. Secrets are masked.',
    access: 'admin',
    reply: z.object({ keys: z.array(NotifyKey) }),
  }),
  createKey: defineRoute({
    method: 'POST',
    path: '/api/notify/keys',
    summary: 'Creates a key, either empty or from a TEXT or YAML configuration.',
    access: 'admin',
    body: z.object({ key: NotifyKeyName, text: text.default('') }),
    reply: NotifyKey,
  }),
  chooseOptions: defineRoute({
    method: 'PUT',
    path: '/api/notify/keys/:key/options',
    summary: 'Changes the options of a key.',
    access: 'admin',
    body: NotifyKeyOptions,
    reply: NotifyKey,
  }),
  chooseSecret: defineRoute({
    method: 'PUT',
    path: '/api/notify/keys/:key/secret',
    summary: 'Sets or removes the secret with which programs have to sign their requests to a key.',
    access: 'admin',
    body: NotifyKeySecret,
    reply: z.object({ signed: z.boolean() }),
  }),
  renameKey: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/rename',
    summary: 'Renames a key. Programs that send to the old name receive 404.',
    access: 'admin',
    body: z.object({ to: NotifyKeyName }),
    reply: NotifyKey,
  }),
  removeKey: defineRoute({
    method: 'DELETE',
    path: '/api/notify/keys/:key',
    summary: 'Deletes a key with all its destinations.',
    access: 'admin',
    reply: ok,
  }),
  exportKey: defineRoute({
    method: 'GET',
    path: '/api/notify/keys/:key/text',
    summary: 'Returns the configuration of a key as text. Secrets are masked unless they are requested.',
    access: 'admin',
    query: z.object({ secrets: z.enum(['true', 'false']).default('false') }),
    reply: z.object({ format: z.string(), text: z.string() }),
  }),
  importKey: defineRoute({
    method: 'PUT',
    path: '/api/notify/keys/:key/text',
    summary: 'Replaces the configuration of a key with a TEXT or YAML configuration.',
    access: 'admin',
    body: z.object({ text }),
    reply: NotifyKey,
  }),
  preview: defineRoute({
    method: 'POST',
    path: '/api/notify/preview',
    summary: 'Returns the result of a TEXT or YAML configuration for each line, without saving it.',
    access: 'admin',
    body: z.object({ text }),
    reply: NotifyPreview,
  }),
  forms: defineRoute({
    method: 'GET',
    path: '/api/notify/forms',
    summary: 'Returns the form for each type of destination.',
    access: 'admin',
    reply: z.object({ forms: z.array(DestinationForm) }),
  }),
  filled: defineRoute({
    method: 'GET',
    path: '/api/notify/keys/:key/destinations/:line/form',
    summary: 'Returns the form values of a stored destination, without its secrets.',
    access: 'admin',
    query: z.object({ id: z.string() }),
    reply: FilledForm,
  }),
  addDestination: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/destinations',
    summary: 'Adds a destination to a key. If the key does not exist, it is created.',
    access: 'admin',
    body: z.object({ ...linePath, tags: tags.default([]) }),
    reply: NotifyKey,
  }),
  changeDestination: defineRoute({
    method: 'PUT',
    path: '/api/notify/keys/:key/destinations',
    summary: 'Changes the tags of a destination and, if the request contains it, its URL.',
    access: 'admin',
    body: z.object({ ...named, ...linePath, tags }),
    reply: NotifyKey,
  }),
  removeDestination: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/destinations/remove',
    summary: 'Removes a destination from a key.',
    access: 'admin',
    body: z.object(named),
    reply: NotifyKey,
  }),
  choose: defineRoute({
    method: 'GET',
    path: '/api/notify/keys/:key/choose',
    summary:
      'Returns the destinations that would receive a notification with this tag expression, and the reasons. ' +
      'Without an expression, returns the destinations for notifications without tags.',
    access: 'admin',
    query: z.object({ tag: z.string().max(1000).optional() }),
    reply: z.object({ destinations: z.array(NotifyTagMatch) }),
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/notify/keys/:key/test',
    summary: 'Sends a test notification immediately, and returns the response of each destination.',
    access: 'admin',
    body: z.object({ line: z.int().min(1).optional(), tag: z.string().max(1000).optional() }),
    reply: z.object({ results: z.array(NotifyTestResult) }),
  }),
  notices: defineRoute({
    method: 'GET',
    path: '/api/notify/notices',
    summary:
      'Lists notifications with the result for each destination, newest first. For the next page, set `before` ' +
      'to the last ID.',
    access: 'admin',
    query: z.object({
      before: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(200).default(50),
      /** Words that title or body must all contain. */
      q: z.string().max(200).optional(),
      key: z.string().optional(),
      /** Notifications with a dead or waiting delivery; `done`: all were delivered. */
      state: z.enum(['dead', 'waiting', 'done']).optional(),
    }),
    reply: z.object({ notices: z.array(NotifyHistoryEntry), givenUp: z.int(), waiting: z.int() }),
  }),
  notice: defineRoute({
    method: 'GET',
    path: '/api/notify/notices/:id',
    summary: 'Returns a notification with the result for each destination.',
    access: 'admin',
    reply: NotifyHistoryEntry,
  }),
  resend: defineRoute({
    method: 'POST',
    path: '/api/notify/notices/:id/send',
    summary: 'Sends a notification again to the same destinations, if its key still has them.',
    access: 'admin',
    /** `filesGone`: number of attachments that are no longer stored and were omitted. */
    reply: z.object({ destinations: z.int(), filesGone: z.int() }),
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/retry',
    summary: 'Retries a failed or waiting delivery now.',
    access: 'admin',
    body: delivery,
    reply: ok,
  }),
  retryAll: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/retry-all',
    summary: 'Retries all failed deliveries now, or only those that failed for the same reason.',
    access: 'admin',
    body: z
      .object({
        cause,
        waiting: z
          .literal(true)
          .optional()
          .describe('Also retries deliveries that are waiting for their next attempt.'),
      })
      .default({}),
    reply: z.object({ retried: z.int() }),
  }),
  dropAll: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/drop-all',
    summary:
      'Permanently dismisses the failed deliveries of notifications that were received before a time, or only ' +
      'those that failed for the same reason.',
    access: 'admin',
    body: z.object({ before: z.number().describe('ms since the epoch'), cause }),
    reply: z.object({ dropped: z.int() }),
  }),
  drop: defineRoute({
    method: 'POST',
    path: '/api/notify/deliveries/drop',
    summary: 'Permanently cancels a delivery.',
    access: 'admin',
    body: delivery,
    reply: ok,
  }),
};
