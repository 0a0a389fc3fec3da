import * as labels from '#messages/notify-labels';
import { describe, expect, it } from 'vitest';
import { formatSendFailure, parseSendFailure } from '../../../services/contracts/notify/send-failure.ts';
import { formatCause } from '../../../renderer/src/pages/notify/destinations/cause.ts';

describe('a report of a failed notification', () => {
  it.each([
    [undefined, '', ''],
    [401, '', '.'],
    [404, 'the address is unknown', ': the address is unknown'],
    [undefined, 'It says: no\nand more', ': It says: no\nand more'],
  ] as const)('is parsed to the parts it was formatted of: %s %s', (status, reason, end) => {
    const text = `${formatSendFailure('JSON POST', status)}${end}`;
    expect(parseSendFailure(text)).toEqual({ status, reason });
  });

  it.each(['', 'Sent JSON POST notification.', 'Failed to send JSON POST notification. It said: no'])(
    'is not recognized in other texts: %s',
    (text) => {
      expect(parseSendFailure(text)).toBeUndefined();
    },
  );
});

describe('the cause on pages', () => {
  it.each([
    ['Failed to send JSON POST notification, error=401.', labels.signInRefused({ status: 401 })],
    ['Failed to send JSON POST notification, error=404: it is gone. Really', 'It is gone (error 404). Really'],
    ['Failed to send E-Mail notification: the host is unknown.', 'The host is unknown.'],
    ['Failed to send JSON POST notification.', 'Failed to send JSON POST notification.'],
    ['Anything else', 'Anything else'],
  ])('shows %s as %s', (detail, shown) => {
    expect(formatCause(detail)).toBe(shown);
  });
});
