import { z } from 'zod';

/** Action offered to the user: opens a page of the app, after an optional call of the API. */
export const SuggestedAction = z
  .object({
    /** Label of the button: `See the destinations`. */
    label: z.string(),
    to: z.string().regex(/^\/(?!\/)/),
    post: z.object({ path: z.string().regex(/^\/api\//), body: z.record(z.string(), z.unknown()) }).optional(),
    /** Offered to administrators only, since other accounts may not perform it. */
    adminOnly: z.literal(true).optional(),
  })
  .meta({ id: 'Step' });
export type SuggestedAction = z.infer<typeof SuggestedAction>;

/** Running work that a user may wait for. */
export const RunningWork = z
  .object({ title: z.string(), to: z.string(), percent: z.number().min(0).max(100).nullable() })
  .meta({ id: 'RunningWork' });
export type RunningWork = z.infer<typeof RunningWork>;

/** State of a service with the text and actions that its pages show. */
export const Health = z.object({
  /** `down`: the service cannot work or recover; the host restarts it after growing pauses. */
  state: z.enum(['up', 'degraded', 'down']),
  /** Short status text for the Home page ("3 downloading"), or the reason when not up. */
  detail: z.string(),
  /**
   * Action that solves the problem; with `up`, the status itself requires attention, such as a monitor that is down.
   */
  remedy: SuggestedAction.optional(),
  /** First step for a service that has not been used yet. */
  begin: SuggestedAction.optional(),
  /** With `up`: the service runs but has nothing to do on this computer, such as popups without a screen. */
  idle: z.literal(true).optional(),
  /** Current work; Home shows the first entries of all services. */
  running: z.array(RunningWork).max(5).optional(),
});
export type Health = z.infer<typeof Health>;
