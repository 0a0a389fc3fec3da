import * as m from '#messages/connect-device';
import type { PushDevice } from '../../../../../services/contracts/push/devices.ts';
import { formatUserAgent } from '../../../parts/text/user-agent.ts';

/** Formats a device, such as `ntfy app on Android (192.168.1.23)`. */
export function formatDevice({ userAgent, address }: Pick<PushDevice, 'userAgent' | 'address'>): string {
  return m.programAtAddress({ program: formatProgram(userAgent), address });
}

function formatProgram(userAgent: string): string {
  if (!userAgent.startsWith('ntfy/')) return formatUserAgent(userAgent);
  if (userAgent.includes('Android')) return m.ntfyOnAndroid();
  return /iOS|iPhone|Darwin/.test(userAgent) ? m.ntfyOnIPhone() : m.ntfyApp();
}
