// Opens Homeport as somebody has it after a month, to look at its pages by hand; it ends with Ctrl+C. Words on the command line
// name parts of the household (`messages`, `uptime`) where not all is wanted, a number is added to all ports.
import { openHousehold } from '../test/household/household.ts';
import { admin } from '../test/support/host.ts';

const words = process.argv.slice(2);
const only = words.filter((word) => !/^\d+$/.test(word));
const portsAbove = Number(words.find((word) => /^\d+$/.test(word)) ?? 0);
const host = await openHousehold({ portsAbove, ...(only.length === 0 ? {} : { only }) });
console.log(`${host.url('control')} as ${admin.name} with ${admin.password}`);
const goesOn = setInterval(() => undefined, 2 ** 30);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    clearInterval(goesOn);
    void host[Symbol.asyncDispose]();
  });
}
