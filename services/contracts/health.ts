import { z } from 'zod';
import type { Text } from './text.ts';

/** Action offered to the user: opens a page of the app, after an optional call of the API. */
export const SuggestedAction = z
  .object({
    /** Label of the button: `View destinations`. */
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

/** Running work of a service, whose title each reader gets in their language. */
export type ServiceWork = Omit<RunningWork, 'title'> & { readonly title: Text };

/** Suggested action of a service, whose label each reader gets in their language. */
export type ServiceAction = Omit<SuggestedAction, 'label'> & { readonly label: Text };

/**
 * State of a service with the text and actions that its pages show. The host checks it regularly for all readers, so
 * texts are message functions: `detail: () => m.running({ count })`.
 */
export interface Health {
  /** `down`: the service cannot work or recover; the host restarts it after growing pauses. */
  readonly state: 'up' | 'degraded' | 'down';
  /** Short status text for the Home page ("3 downloading"), or the reason when not up. */
  readonly detail: Text;
  /**
   * Action that solves the problem; with `up`, the status itself requires attention, such as a monitor that is down.
   */
  readonly remedy?: ServiceAction | undefined;
  /** First step for a service that has not been used yet. */
  readonly begin?: ServiceAction | undefined;
  /** With `up`: the service runs but has nothing to do on this computer, such as popups without a screen. */
  readonly idle?: true | undefined;
  /** Current work, at most five entries; Home shows the first entries of all services. */
  readonly running?: readonly ServiceWork[] | undefined;
}
