import { z } from 'zod';

/** What a person can do with one click: go to a place of our pages, after a call of our own API where there is one. */
export const SuggestedAction = z
  .object({
    /** What the button says: `See the destinations`. */
    label: z.string(),
    to: z.string().regex(/^\/(?!\/)/),
    post: z.object({ path: z.string().regex(/^\/api\//), body: z.record(z.string(), z.unknown()) }).optional(),
    /** Nobody else may do it, so that nobody else is offered it. */
    adminOnly: z.literal(true).optional(),
  })
  .meta({ id: 'Step' });
export type SuggestedAction = z.infer<typeof SuggestedAction>;

/** Something that a service does now and that a person waits for. */
export const RunningWork = z
  .object({ title: z.string(), to: z.string(), percent: z.number().min(0).max(100).nullable() })
  .meta({ id: 'RunningWork' });
export type RunningWork = z.infer<typeof RunningWork>;

export const Health = z.object({
  /** `down`: it does no work and cannot help itself; the host starts it anew, after growing pauses. */
  state: z.enum(['up', 'degraded', 'down']),
  /** One living fact for the Home page ("3 downloading"), or the reason when not up. */
  detail: z.string(),
  /** What mends it; with `up` the fact itself needs somebody, such as a monitor that is down. */
  remedy: SuggestedAction.optional(),
  /** Where to begin, as long as nothing was done with it yet. */
  begin: SuggestedAction.optional(),
  /** With `up`: it runs, and has nothing that it could do here, such as popups without a screen. */
  idle: z.literal(true).optional(),
  /** What it is at; Home shows the first ones of all services. */
  running: z.array(RunningWork).max(5).optional(),
});
export type Health = z.infer<typeof Health>;
