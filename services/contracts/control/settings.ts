import { z } from 'zod';

/** JSON Schema, draft 2020-12, as `z.toJSONSchema` writes it. A field with `secret: true` is never shown; one with `folder: true` is a folder of the host, one with `hours: true` has lines of quiet hours,
 * one with `choices` has words for the values it offers, by value, one with `unit` (`ms` or `bytes`) is a number of those, which people read in seconds or MiB, any other `unit` is what the number counts, such as `days`; with `smallUnit` a number below 10,000 counts so many bytes each;
 * a text with `quantity` (`duration` or `size`) is a number and a unit, such as `12h` or `15M`; with `example` it is shown what it looks like while it is empty. One with `needs` does nothing unless other fields of its section, by name, have one of these values; `true`: any that is not empty. */
export const JsonSchema = z.record(z.string(), z.unknown()).meta({ id: 'JsonSchema' });
export type JsonSchema = z.infer<typeof JsonSchema>;

/** Where a value in effect comes from; a later one of this list wins over the ones before it. */
export const SettingsOrigin = z
  .discriminatedUnion('from', [
    z.object({ from: z.literal('default') }),
    z.object({ from: z.literal('file') }),
    /** `name`: the variable. */
    z.object({ from: z.literal('environment'), name: z.string() }),
    /** `name`: the flag, e.g. `--port`. */
    z.object({ from: z.literal('command line'), name: z.string() }),
  ])
  .meta({ id: 'SettingsOrigin' });
export type SettingsOrigin = z.infer<typeof SettingsOrigin>;

/** What is shown in place of a secret. Sent back unchanged, it leaves the secret as it is. */
export const RedactedSecret = z.strictObject({ set: z.boolean() }).meta({ id: 'HiddenSecret' });
export type RedactedSecret = z.infer<typeof RedactedSecret>;

/** One field of a section, in the order of the form. */
export const SettingsField = z
  .object({
    name: z.string(),
    /** As in messages: `services.push.port`. */
    path: z.string(),
    title: z.string(),
    description: z.string(),
    schema: JsonSchema,
    /** The value in effect; every secret in it is a {@link RedactedSecret}. */
    value: z.unknown(),
    origin: SettingsOrigin,
    /** Set from outside: the variable or flag to change instead. Null: it can be changed here. */
    lockedBy: z.string().nullable(),
    secret: z.boolean(),
    /** Few people need it: it is folded behind the others. */
    advanced: z.boolean(),
    /** Which part of the settings' pages shows it: of the host's fields `network`, `backup` and so on, else `general`; `desktop`: the first page in the desktop app's own window. */
    area: z.string(),
    /** The heading under which it stands with others; empty: none. */
    group: z.string(),
    /** A change takes effect at once; of any other setting its service is started anew. */
    live: z.boolean(),
  })
  .meta({ id: 'SettingsField' });
export type SettingsField = z.infer<typeof SettingsField>;

/** The host's own settings (`host`) or those of one service (its id). */
export const SettingsSection = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    /** The whole section, for forms made from a schema; the fields below repeat its properties. */
    schema: JsonSchema,
    fields: z.array(SettingsField),
  })
  .meta({ id: 'SettingsSection' });
export type SettingsSection = z.infer<typeof SettingsSection>;

/** Something wrong in the settings, by field path; an empty path means the file as a whole. */
export const SettingsProblem = z
  .object({
    path: z.string(),
    /** One sentence, without the value of a secret. */
    message: z.string(),
    /** Line of the file, from 1. */
    line: z.int().optional(),
  })
  .meta({ id: 'SettingsProblem' });
export type SettingsProblem = z.infer<typeof SettingsProblem>;

export const SettingsView = z
  .object({
    sections: z.array(SettingsSection),
    /** What could not be used; the defaults stand in for it. */
    problems: z.array(SettingsProblem),
    /** What is kept but means nothing here, such as unknown fields. */
    warnings: z.array(SettingsProblem),
  })
  .meta({ id: 'SettingsView' });
export type SettingsView = z.infer<typeof SettingsView>;
