import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { mayRead } from '../route-access.ts';

/** Published when another device subscribed to a topic, read one or left; at most twice a second, without naming it. */
export const pushDevicesChanged = defineTopic(
  'push.devices',
  z.object({ time: z.number().describe('ms since the epoch') }),
);

/** Device other than the computer of Homeport that receives the messages of a topic. */
export const PushDevice = z
  .object({
    /** `stream`: keeps a connection open; `poll`: requests new messages; `browser`: receives web push. */
    connection: z.enum(['stream', 'poll', 'browser']),
    /** Header `User-Agent` of its program. */
    userAgent: z.string(),
    address: z.string(),
    /** Account it signed in with; null without one. */
    account: z.string().nullable(),
    /** Time of its latest request, ms since the epoch. */
    seenAt: z.number(),
    /** A stream of it is open. */
    isConnected: z.boolean(),
  })
  .meta({ id: 'PushDevice' });
export type PushDevice = z.infer<typeof PushDevice>;

/** Routes about the devices that receive messages. */
export const pushDevicesApi = {
  list: defineRoute({
    method: 'GET',
    path: '/api/push/topics/:topic/devices',
    summary:
      'Lists other devices that received or requested messages of the topic within the last hour, most recent ' +
      'first. Users see devices of their own account and devices without an account; administrators see all ' +
      'devices.',
    access: mayRead('push', ':topic'),
    reply: z.object({ devices: z.array(PushDevice) }),
  }),
};
