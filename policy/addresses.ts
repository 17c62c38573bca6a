import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [Address, number];

/** What an operator opens: one network, on one port or on all. */
export interface AllowRule {
  network: Network;
  port?: number;
}

const v4 = (cidr: string): [ipaddr.IPv4, number] => ipaddr.IPv4.parseCIDR(cidr);
const v6 = (cidr: string): [ipaddr.IPv6, number] => ipaddr.IPv6.parseCIDR(cidr);

/** Networks of IPv4 that are no part of the public internet, or that a cloud answers for its own machines. */
const CLOSED_V4 = [
  '0.0.0.0/8', // unspecified, "this network"
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and metadata of one cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // metadata of one cloud
  '169.254.0.0/16', // link-local, metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, metadata of one cloud
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // multicast tunnels
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(v4);

/** Of IPv6 only this is public: all that holds an IPv4 address, is local, or reserved lies outside or is named below. */
const PUBLIC_V6 = v6('2000::/3');
const CLOSED_V6 = [
  '2001::/23', // protocol assignments, Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(v6);

/** Names that stand for an address wherever they are asked for. */
const METADATA_NAMES = ['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal', 'instance-data'];

/** Nothing for what is no address in its usual notation: octal and short forms are not. */
function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

const contains = ([network, bits]: Network, address: Address): boolean =>
  network.kind() === address.kind() && address.match(network, bits);

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !CLOSED_V4.some((network) => contains(network, address));
  return contains(PUBLIC_V6, address) && !CLOSED_V6.some((network) => contains(network, address));
}

/** Whether an address may be dialled: a public one, or one the operator opened. Each family is opened by its own rules. */
export function isAdmitted(text: string, port: number, allow: readonly AllowRule[]): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  if (isPublic(address)) return true;
  return allow.some((rule) => (rule.port === undefined || rule.port === port) && contains(rule.network, address));
}

/** The addresses that a host stands for without asking anyone, any of which may be meant; nothing for other names. */
export function literalAddresses(host: string): string[] | undefined {
  const bare = host.replace(/^\[|\]$/g, '');
  if (parseAddress(bare)) return [bare];
  const name = bare.toLowerCase().replace(/\.$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  return METADATA_NAMES.includes(name) ? ['169.254.169.254'] : undefined;
}

/** An IPv6 network stands in brackets where a port follows. */
const ENTRY =
  /^(?:(?:\[([0-9a-f:.]+)(\/\d+)?\](\/\d+)?|([\d.]+)(\/\d+)?)(?::(\d{1,5}))?|([0-9a-f]*:[0-9a-f:.]*)(\/\d+)?)$/i;
const FORM = 'CIDR or CIDR:port, as 10.1.0.0/16, 10.1.2.3/32:4646 or [fd00::/8]:6443';

/** One entry of the operator's list, or what is wrong with it. */
function parseEntry(entry: string): AllowRule | string {
  const parts = ENTRY.exec(entry);
  const address = parseAddress(parts?.[1] ?? parts?.[4] ?? parts?.[7] ?? '');
  if (!parts || !address || (parts[2] && parts[3])) return `${JSON.stringify(entry)} is not of the form ${FORM}`;
  const most = address.kind() === 'ipv4' ? 32 : 128;
  const prefix = parts[2] ?? parts[3] ?? parts[5] ?? parts[8];
  const bits = prefix ? Number(prefix.slice(1)) : most;
  if (bits > most) return `${JSON.stringify(entry)} has a prefix above /${most}`;
  const network = networkOf(address, bits);
  if (network.toString() !== address.toString()) {
    return `${JSON.stringify(entry)} is not the address of a network of /${bits}, which ${network}/${bits} is`;
  }
  const port = parts[6] === undefined ? undefined : Number(parts[6]);
  if (port !== undefined && (port < 1 || port > 65_535)) return `${JSON.stringify(entry)} has no port of 1 to 65535`;
  return { network: [address, bits], ...(port !== undefined && { port }) };
}

const networkOf = (address: Address, bits: number): Address =>
  address.kind() === 'ipv4'
    ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${bits}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`);

export interface AllowList {
  rules: AllowRule[];
  /** What is wrong, one an entry. */
  faults: string[];
}

/** The operator's list, separated by commas. */
export function parseAllowList(text: string): AllowList {
  const list: AllowList = { rules: [], faults: [] };
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue;
    const parsed = parseEntry(entry);
    if (typeof parsed === 'string') list.faults.push(parsed);
    else list.rules.push(parsed);
  }
  return list;
}
