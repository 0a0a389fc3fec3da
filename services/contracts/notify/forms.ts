import { z } from 'zod';

/** Field of a destination's form. */
export const FormField = z.object({
  name: z.string(),
  label: z.string(),
  /** `secret`: its value never leaves the host; `switch`: true or false; the others are text. */
  kind: z.enum(['text', 'secret', 'number', 'switch', 'choice']),
  required: z.boolean(),
  help: z.string(),
  /** Values and labels of a `choice`, in order; the value `''` leaves the choice to the destination. */
  choices: z.array(z.tuple([z.string(), z.string()])),
  /** Default for a new destination. */
  initial: z.union([z.string(), z.boolean()]),
});
export type FormField = z.infer<typeof FormField>;

/** Form of a kind of destination. The page renders this description and has no knowledge of schemes. */
export const DestinationForm = z
  .object({
    /** First scheme of the kind, which identifies the form. */
    scheme: z.string(),
    /** All schemes of the kind, `scheme` first. */
    schemes: z.array(z.string()),
    title: z.string(),
    /** Category in the list of kinds: this computer, chats, phones, smart home, on-call, mail, other programs. */
    category: z.enum(['here', 'chat', 'phone', 'home', 'duty', 'mail', 'program', 'other']),
    /** Description of the recipient, as one sentence. */
    about: z.string(),
    fields: z.array(FormField),
  })
  .meta({ id: 'DestinationForm' });
export type DestinationForm = z.infer<typeof DestinationForm>;

/** Values by field name. For secrets, empty text preserves the stored value and null removes it. */
export const FormValues = z.record(z.string(), z.union([z.string().max(4096), z.boolean(), z.null()]));
export type FormValues = z.infer<typeof FormValues>;

/** Stored destination as form values. `set` names the stored secrets; their values remain on the host. */
export const FilledForm = z.object({ scheme: z.string(), values: FormValues, set: z.array(z.string()) });
export type FilledForm = z.infer<typeof FilledForm>;
