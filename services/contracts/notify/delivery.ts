import { z } from 'zod';

/** Delivery options in a destination's address that apply to all kinds. */
export const DeliveryArgument = z.enum([
  ...['quiet', 'rate', 'digest'],
  ...['format', 'overflow', 'retry', 'wait', 'optional', 'verify', 'emojis'],
] as const);
export type DeliveryArgument = z.infer<typeof DeliveryArgument>;

/**
 * Delivery options as they are written in an address: `quiet` `22:00-07:00,sat sun 23:00-09:00`, `rate` `10/1h`,
 * `digest` `15m`, `format` `text|markdown|html`, `overflow` `upstream|truncate|split`, `retry` a number, `wait`
 * seconds, `optional`, `verify` and `emojis` `yes|no`. Missing options have the default of the kind. In a draft,
 * empty text removes an option and missing options are unchanged.
 */
export const DeliveryArguments = z.partialRecord(DeliveryArgument, z.string().trim().max(1000));
export type DeliveryArguments = z.infer<typeof DeliveryArguments>;
