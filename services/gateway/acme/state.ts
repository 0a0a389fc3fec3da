import type { PublicCertificateState } from '../../contracts/gateway/certificate-api.ts';
import { formatFailure } from './failure.ts';
import type { StoredCertificate, StoredOrder } from './order-store.ts';
import { isConfigured, type AcmeSettings } from './plan.ts';

const steps = ['account', 'order', 'records', 'propagation', 'validation', 'certificate'] as const;
type Step = PublicCertificateState['steps'][number];

interface StateInput {
  readonly settings: Readonly<AcmeSettings>;
  readonly order: StoredOrder | undefined;
  readonly certificate: StoredCertificate | undefined;
  readonly names: readonly string[];
  readonly resolves: boolean;
}

/** Builds the state of the certificate for the pages, with texts in the current language. */
export function buildState({ settings, order, certificate, names, resolves }: StateInput): PublicCertificateState {
  const { acmeDomain, acmeConfirmation } = settings;
  const isOff = acmeDomain === '' || order === undefined;
  const failure = order?.failure;
  const showsFailure = order?.state === 'failed' || order?.state === 'stopped';
  return {
    domain: acmeDomain,
    confirmation: acmeConfirmation,
    names: acmeDomain === '' ? [] : [...names],
    status: getStatus(order, acmeDomain, isConfigured(settings)),
    stage: order?.stage ?? 'production',
    steps: isOff || order.state === 'done' ? [] : listSteps(order, acmeConfirmation === 'http'),
    records: acmeConfirmation === 'manual' && order !== undefined && order.state !== 'done' ? [...order.records] : [],
    problem:
      failure === undefined || !showsFailure
        ? null
        : { code: `gateway.${failure.code}`, text: formatFailure(failure.code, failure.values) },
    nextAttemptAt: isOff || order.state === 'done' ? null : order.next_at,
    certificate:
      certificate === undefined
        ? null
        : {
            names: [...certificate.names],
            madeAt: certificate.madeAt,
            expiresAt: certificate.expiresAt,
            resolves,
            renewAt: order?.state === 'done' ? order.next_at : null,
          },
  };
}

function getStatus(
  order: StoredOrder | undefined,
  domain: string,
  isRequested: boolean,
): PublicCertificateState['status'] {
  if (domain === '') return 'off';
  if (!isRequested) return 'incomplete';
  if (order === undefined || order.state === 'due') return 'working';
  if (order.state === 'running') return 'working';
  return order.state;
}

/** Lists the steps of an order with their states. */
function listSteps({ phase, state }: StoredOrder, isHttp: boolean): Step[] {
  const current = steps.findIndex((step) => step === phase);
  const getState = (index: number): Step['state'] => {
    if (index < current) return 'done';
    if (index > current) return 'open';
    if (state === 'failed' || state === 'stopped') return 'failed';
    return state === 'waiting' ? 'waiting' : 'running';
  };
  return steps
    .map((id, index) => ({ id, state: getState(index) }))
    .filter(({ id }) => !isHttp || (id !== 'records' && id !== 'propagation'));
}
