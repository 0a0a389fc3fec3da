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
      'The popups of the machine follow these rules instead of their own quiet hours; of administrators, those ' +
        'of the last one who said so.',
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
    summary: 'The own quiet hours and rules of push topics, and what they hold back now.',
    access: 'user',
    reply: PushQuietState,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/push/quiet',
    summary:
      'Replaces the own quiet hours and rules of push topics; what they no longer hold back is summed up at once.',
    access: 'user',
    body: PushQuiet,
    reply: PushQuietState,
  }),
  muted: defineRoute({
    method: 'GET',
    path: '/api/push/muted',
    summary: 'The topics that the caller has muted for a time.',
    access: 'user',
    reply: z.object({ muted: z.array(MutedTopic) }),
  }),
  mute: defineRoute({
    method: 'POST',
    path: '/api/push/topics/:topic/mute',
    summary:
      'Mutes a topic for the caller until a time: its messages wait for a summary, except urgent ones. Null or a ' +
      'past time ends it.',
    access: mayRead('push', ':topic'),
    body: z.object({ until: z.int().nullable() }),
    reply: z.object({ muted: z.array(MutedTopic) }),
  }),
  acknowledge: defineRoute({
    method: 'POST',
    path: '/api/push/acknowledge',
    summary:
      'Ends the repetition of an urgent message. Its id is a secret that only the person’s browsers know, so ' +
      'that a click on a notification does it without a sign-in.',
    access: 'public',
    body: z.object({ id: z.string().regex(/^[A-Za-z0-9]{32}$/) }),
    reply: z.object({ ok: z.literal(true) }),
  }),
};
