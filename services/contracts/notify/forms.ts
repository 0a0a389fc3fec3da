import { z } from 'zod';

/** One field of a destination's form. */
export const FormField = z.object({
  name: z.string(),
  label: z.string(),
  /** `secret`: its value never leaves the host; `switch`: true or false; the others are text. */
  kind: z.enum(['text', 'secret', 'number', 'switch', 'choice']),
  required: z.boolean(),
  help: z.string(),
  /** Value and words of a `choice`, in order; the value `''` leaves it to the destination. */
  choices: z.array(z.tuple([z.string(), z.string()])),
  /** What a new destination begins with. */
  initial: z.union([z.string(), z.boolean()]),
});
export type FormField = z.infer<typeof FormField>;

/** How a kind of destination is filled in. The page draws what this says and knows no scheme itself. */
export const DestinationForm = z
  .object({
    /** The kind's first scheme, which names the form. */
    scheme: z.string(),
    /** All schemes it is written with, that one first. */
    schemes: z.array(z.string()),
    title: z.string(),
    /** What people look for: this machine, chats, phones, things of the house, who is on call, mail, other programs. */
    category: z.enum(['here', 'chat', 'phone', 'home', 'duty', 'mail', 'program', 'other']),
    /** One sentence: where notices go with it. */
    about: z.string(),
    fields: z.array(FormField),
  })
  .meta({ id: 'DestinationForm' });
export type DestinationForm = z.infer<typeof DestinationForm>;

/** By field name. For secrets empty text keeps what is stored and null takes it away. */
export const FormValues = z.record(z.string(), z.union([z.string().max(4096), z.boolean(), z.null()]));
export type FormValues = z.infer<typeof FormValues>;

/** A stored destination in its form. `set` names the secrets that are stored; their values stay on the host. */
export const FilledForm = z.object({ scheme: z.string(), values: FormValues, set: z.array(z.string()) });
export type FilledForm = z.infer<typeof FilledForm>;
