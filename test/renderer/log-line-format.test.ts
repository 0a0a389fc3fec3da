import { describe, expect, it } from 'vitest';
import type { LogLine } from '../../services/contracts/control/log.ts';
import { formatLine } from '../../renderer/src/pages/log/line-format.ts';

const buildLine = (fields: Record<string, unknown>): LogLine => ({
  time: 0,
  level: 'warn',
  service: 'security',
  message: 'sign-in failed',
  fields,
});

describe('a security event on the Log page', () => {
  it('has its account, address, service and details without names', () => {
    const fields = {
      ...{ event: 'sign_in_failed', address: '10.0.0.7', target: 'data', account: 'mia@nas.example' },
      detail: 'app user',
    };
    expect(formatLine(buildLine(fields))).toEqual({
      what: 'sign-in failed',
      reason: '',
      facts: 'mia@nas.example · 10.0.0.7 · data · app user',
      technical: '',
    });
  });

  it('keeps all other fields with their names', () => {
    const fields = {
      event: 'role_changed',
      address: '-',
      target: 'control',
      account: 'mia',
      by: 'ada',
      suppressed: 12,
    };
    expect(formatLine(buildLine(fields)).facts).toBe('mia · by ada · suppressed 12');
  });
});
