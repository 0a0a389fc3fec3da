// Opens Homeport with a month of sample data for manual tests of the pages, until Ctrl+C. Arguments select parts of the data
// (`messages`, `uptime`); a number is added to all ports.
import { openHousehold } from '../test/household/household.ts';
import { admin } from '../test/support/host.ts';

const names = process.argv.slice(2);
const partNames = names.filter((name) => !/^\d+$/.test(name));
const portsAbove = Number(names.find((name) => /^\d+$/.test(name)) ?? 0);
const host = await openHousehold({ portsAbove, ...(partNames.length === 0 ? {} : { only: partNames }) });
console.log(`${host.url('control')} as ${admin.name} with ${admin.password}`);
const keepAlive = setInterval(() => undefined, 2 ** 30);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    clearInterval(keepAlive);
    void host[Symbol.asyncDispose]();
  });
}
