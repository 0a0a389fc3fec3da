import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead } from '../route-access.ts';
import { MutedTopic, PushRules } from './rules.ts';

/** Delivery rules of an account, and whether the popups of this computer follow them. */
export const PushQuiet = PushRules.extend({
  popups: z
    .boolean()
    .default(false)
    .describe(
      "If true, the computer's desktop notifications follow these rules instead of the computer's quiet hours. " +
        'If several administrators enable this, the most recent one applies.',
    ),
}).meta({ id: 'PushQuiet' });
export type PushQuiet = z.infer<typeof PushQuiet>;

/** Current effect of an account's rules. Times are ms since the epoch. */
export const PushQuietState = z
  .object({
    quiet: PushQuiet,
    /**
     * Account whose rules the popups of this computer follow; null for none, and for callers who are not
     * administrators.
     */
    popupsFollow: z.string().nullable(),
    /** Time zone of the computer. */
    machineZone: z.string(),
    /** Messages held for the browsers of the account, by topic. */
    held: z.array(z.object({ topic: z.string(), messages: z.int() })),
    /** Urgent messages that repeat until they are acknowledged. */
    urgent: z.array(
      z.object({ id: z.string(), topic: z.string(), title: z.string(), time: z.number(), next: z.number() }),
    ),
  })
  .meta({ id: 'PushQuietState' });
export type PushQuietState = z.infer<typeof PushQuietState>;

/** Routes for delivery rules; answered by push. */
export const pushQuietApi = {
  read: defineRoute({
    method: 'GET',
    path: '/api/push/quiet',
    summary: "Returns the caller's quiet hours and topic rules, and the messages that are currently held.",
    access: 'user',
    reply: PushQuietState,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/push/quiet',
    summary:
      "Replaces the caller's quiet hours and topic rules. Messages that are no longer held are summarized " +
      'immediately.',
    access: 'user',
    body: PushQuiet,
    reply: PushQuietState,
  }),
  muted: defineRoute({
    method: 'GET',
    path: '/api/push/muted',
    summary: 'Lists the topics that the caller has muted temporarily.',
    access: 'user',
    reply: z.object({ muted: z.array(MutedTopic) }),
  }),
  mute: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/mute',
    summary:
      'Mutes a topic for the caller until a time. Its messages are held for a summary, except urgent ones. Null ' +
      'or a past time unmutes the topic.',
    access: mayRead('push', ':topic'),
    body: z.object({ until: z.int().nullable() }),
    reply: z.object({ muted: z.array(MutedTopic) }),
  }),
  acknowledge: defineRoute({
    method: 'POST',
    path: '/api/push/acknowledge',
    summary:
      'Stops repeating an urgent message. Only the user’s browsers know its secret ID, so a click on a ' +
      'notification works without a sign-in.',
    access: 'public',
    body: z.object({ id: z.string().regex(/^[A-Za-z0-9]{32}$/) }),
    reply: z.object({ ok: z.literal(true) }),
  }),
};
