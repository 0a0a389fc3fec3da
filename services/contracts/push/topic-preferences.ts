import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead } from '../route-access.ts';
import { TopicName } from './topics.ts';

/**
 * Sound of new messages of a topic. `default`: pages are silent, and notifications have the sound of the system.
 * `silent`: notifications are silent as well.
 */
export const TopicSound = z.enum(['default', 'bell', 'chime', 'knock', 'horn', 'silent']);
export type TopicSound = z.infer<typeof TopicSound>;

/** Preferences of one account for a topic. */
export const TopicPreferences = z
  .object({
    topic: TopicName,
    /** Shown instead of the name of the topic; empty for none. */
    displayName: z.string(),
    sound: TopicSound,
  })
  .meta({ id: 'TopicPreferences' });
export type TopicPreferences = z.infer<typeof TopicPreferences>;

const reply = z.object({ topics: z.array(TopicPreferences) });

/** Routes for preferences of topics; answered by push. */
export const topicPreferencesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/push/topic-preferences',
    summary: 'Returns the display names and sounds that the caller has set for topics.',
    access: 'user',
    reply,
  }),
  change: defineRoute({
    method: 'PUT',
    path: '/api/push/topics/:topic/preferences',
    summary:
      'Sets the display name and the sound of a topic for the caller. ntfy apps that are subscribed to the ' +
      'topic with the same account show the same name.',
    access: mayRead('push', ':topic'),
    body: z.object({
      displayName: z.string().trim().max(100, { error: m.displayNameTooLong }),
      sound: TopicSound,
    }),
    reply,
  }),
};
