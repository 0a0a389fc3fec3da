import { z } from 'zod';

/** Arguments of a destination's address that say how it is told, whatever its kind. */
export const DeliveryArgument = z.enum([
  ...['quiet', 'rate', 'digest'],
  ...['format', 'overflow', 'retry', 'wait', 'optional', 'verify', 'emojis'],
] as const);
export type DeliveryArgument = z.infer<typeof DeliveryArgument>;

/**
 * How a destination is told, each as it stands in its address: `quiet` `22:00-07:00,sat sun 23:00-09:00`, `rate` `10/1h`, `digest`
 * `15m`, `format` `text|markdown|html`, `overflow` `upstream|truncate|split`, `retry` a number, `wait` seconds, `optional`,
 * `verify` and `emojis` `yes|no`. What is not there is as usual for its kind. In a draft empty text takes one away, and what is not named stays.
 */
export const DeliveryArguments = z.partialRecord(DeliveryArgument, z.string().trim().max(1000));
export type DeliveryArguments = z.infer<typeof DeliveryArguments>;
