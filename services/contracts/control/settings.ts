import { z } from 'zod';

/**
 * JSON Schema, draft 2020-12, as `z.toJSONSchema` writes it, with these keywords: `secret: true`: never shown;
 * `folder: true`: a folder on the host; `hours: true`: lines of quiet hours; `choices`: labels by value; `unit`: `ms`
 * or `bytes` (displayed as seconds or MiB), or any other unit of the number, such as `days`; `smallUnit`: a number
 * below 10,000 counts units of this many bytes; `quantity` (`duration` or `size`): a number and a unit, such as `12h`
 * or `15M`; `example`: placeholder of an empty field; `needs`: the field has no effect unless other fields of its
 * section have one of these values, or any non-empty value for `true`.
 */
export const JsonSchema = z.record(z.string(), z.unknown()).meta({ id: 'JsonSchema' });
export type JsonSchema = z.infer<typeof JsonSchema>;

/** Origin of an effective value; later entries of this list override earlier ones. */
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

/** Placeholder for a secret. Sent back unchanged, it preserves the stored secret. */
export const RedactedSecret = z.strictObject({ set: z.boolean() }).meta({ id: 'HiddenSecret' });
export type RedactedSecret = z.infer<typeof RedactedSecret>;

/** Field of a section, in the order of the form. */
export const SettingsField = z
  .object({
    name: z.string(),
    /** Field path as in messages: `services.push.port`. */
    path: z.string(),
    title: z.string(),
    description: z.string(),
    schema: JsonSchema,
    /** Effective value; every secret in it is a {@link RedactedSecret}. */
    value: z.unknown(),
    origin: SettingsOrigin,
    /** Variable or flag that sets the value from outside; null when it can be changed here. */
    lockedBy: z.string().nullable(),
    secret: z.boolean(),
    /** Shown in the collapsed part of the form. */
    advanced: z.boolean(),
    /**
     * Page of the settings that shows the field: `network`, `backup` and so on for fields of the host, else
     * `general`; `desktop`: the first page in the desktop app's window.
     */
    area: z.string(),
    /** Heading of the group; empty for none. */
    group: z.string(),
    /** A change takes effect immediately; other settings restart the service. */
    live: z.boolean(),
  })
  .meta({ id: 'SettingsField' });
export type SettingsField = z.infer<typeof SettingsField>;

/** Settings of the host (`host`) or of one service (its id). */
export const SettingsSection = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    /** Schema of the whole section, for generated forms; the fields below repeat its properties. */
    schema: JsonSchema,
    fields: z.array(SettingsField),
  })
  .meta({ id: 'SettingsSection' });
export type SettingsSection = z.infer<typeof SettingsSection>;

/** Error in the settings by field path; an empty path refers to the whole file. */
export const SettingsProblem = z
  .object({
    path: z.string(),
    /** Message of one sentence, without secret values. */
    message: z.string(),
    /** Line of the file, from 1. */
    line: z.int().optional(),
  })
  .meta({ id: 'SettingsProblem' });
export type SettingsProblem = z.infer<typeof SettingsProblem>;

/** All settings with their values, as the settings pages show them; secrets are redacted. */
export const SettingsView = z
  .object({
    sections: z.array(SettingsSection),
    /** Values that are invalid; the defaults apply instead. */
    problems: z.array(SettingsProblem),
    /** Values that are preserved but have no effect, such as unknown fields. */
    warnings: z.array(SettingsProblem),
  })
  .meta({ id: 'SettingsView' });
export type SettingsView = z.infer<typeof SettingsView>;
