import * as labels from '#messages/notify-labels';
import { describe, expect, it } from 'vitest';
import {
  formatReply,
  formatSendFailure,
  leftQueueNote,
  parseSendFailure,
} from '../../../services/contracts/notify/send-failure.ts';
import { formatCause } from '../../../renderer/src/pages/notify/destinations/cause.ts';

describe('a report of a failed notification', () => {
  it.each([
    [undefined, '', ''],
    [401, '', '.'],
    [404, 'the address is unknown', ': the address is unknown'],
    [undefined, 'It says: no\nand more', ': It says: no\nand more'],
  ] as const)('is parsed to the parts it was formatted of: %s %s', (status, reason, end) => {
    const text = `${formatSendFailure('JSON POST', status)}${end}`;
    expect(parseSendFailure(text)).toEqual({ status, reason, reply: '' });
  });

  it('contains the words of the service', () => {
    const text = `${formatSendFailure('JSON POST', 404)}: it is gone.${formatReply('No such hook: x')}`;
    expect(parseSendFailure(text)).toEqual({ status: 404, reason: 'it is gone', reply: 'No such hook: x' });
    expect(parseSendFailure(`${formatSendFailure('Slack')}.${formatReply('not_in_channel')}`)).toEqual({
      status: undefined,
      reason: '',
      reply: 'not_in_channel',
    });
  });

  it.each(['', 'Sent JSON POST notification.', 'Failed to send JSON POST notification and more'])(
    'is not recognized in other texts: %s',
    (text) => {
      expect(parseSendFailure(text)).toBeUndefined();
    },
  );
});

describe('the cause on pages', () => {
  it.each([
    ['Failed to send JSON POST notification, error=401.', labels.signInRefused({ status: 401 })],
    ['Failed to send JSON POST notification, error=404: it is gone.', labels.nothingAtAddress({ status: '404' })],
    [
      'Failed to send JSON POST notification, error=404: it is gone. It said: No hook',
      labels.causeWithReply({ cause: labels.nothingAtAddress({ status: '404' }), reply: 'No hook' }),
    ],
    ['Failed to send Slack notification. It said: no_team', labels.replied({ reply: 'no_team' })],
    [
      `Failed to send JSON notification, error=500.${leftQueueNote}`,
      labels.causeOfDetached({ cause: labels.faultOfDestination({ status: '500' }) }),
    ],
    ['Failed to send E-Mail notification: the host is unknown.', 'The host is unknown.'],
    ['Failed to send JSON POST notification.', labels.notSent()],
    ['Anything else', 'Anything else'],
  ])('shows %s as %s', (detail, shown) => {
    expect(formatCause(detail)).toBe(shown);
  });

  it('is described by its code', () => {
    const detail = 'Failed to send JSON POST notification: connect ECONNREFUSED 127.0.0.1:9';
    expect(formatCause(detail, 'refused')).toBe(labels.causeRefused());
  });
});
