import { z } from 'zod';

/** Messages of Apprise API, which its clients may expect. */
export const sentences = {
  badJson: 'Invalid JSON Payload provided',
  badForm: 'Bad FORM Payload provided',
  lacking: 'Payload lacks minimum requirements',
  badFormat: 'An invalid body input format was specified',
  badTag: 'Unsupported characters found in tag definition',
  badAttachment: 'Bad Attachment',
  tooLarge: 'JSON Payload provided is to large',
  recursion: 'The recursion limit has been reached',
  badRecursion: 'An invalid recursion value was specified',
  denied: 'The site has been configured to deny this request',
  badSignature: 'The signature or token does not match the secret of this key',
  unsigned: 'This key accepts only notifications signed with its secret',
  notSent: 'One or more notification could not be sent',
  notSentStateless: 'One or more notifications could not be sent',
  mappingFailed: 'Payload field mapping failed',
  noUrls: 'No valid URLs defined',
  noConfigurationUrls: 'No valid URL(s) defined',
  badConfigurationFormat: 'Invalid configuration format specified',
  badStructure: 'Invalid payload structure provided',
  noConfiguration: 'No configuration provided',
  configurationTooLarge: 'The configuration payload is too large',
  saved: 'Successfully saved configuration',
  removed: 'Successfully removed configuration',
  notFound: 'The requested resource was not found',
} as const;

/** Key of a configuration; other paths are not found. */
export const Key = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);

/** Maximum size of a JSON or form body, in bytes. */
export const bodyLimit = 3 * 1024 * 1024;
/** Maximum length of a configuration, in characters. */
export const configurationLimit = 512 * 1024;

/** Longer objects are not indented, because indentation can multiply their length. */
const maxIndentedLength = 10_000;

/** Text field; numbers and objects are serialized instead of rejected. */
const Text = z
  .unknown()
  .optional()
  .transform((value) => {
    if (typeof value === 'string') return value;
    if (value === undefined || value === null) return undefined;
    const text = JSON.stringify(value);
    return text.length > maxIndentedLength ? text : JSON.stringify(value, undefined, 2);
  });

/** Fields of a notification, from JSON or a form. `format` null means unchanged. Unknown fields are ignored. */
export const NotifyFields = z.object({
  body: Text,
  title: Text,
  type: Text,
  format: z.unknown().optional(),
  tag: z.unknown().optional(),
  tags: z.unknown().optional(),
  urls: z.unknown().optional(),
  attach: z.unknown().optional(),
  attachment: z.unknown().optional(),
  attachments: z.unknown().optional(),
});
export type NotifyFields = z.infer<typeof NotifyFields>;

/** Fields of `/add`: either `urls`, or `config` with `format`. */
export const AddFields = z.object({
  urls: z.unknown().optional(),
  config: z.unknown().optional(),
  format: z.unknown().optional(),
});
export type AddFields = z.infer<typeof AddFields>;
