import { assertEquals } from "@std/assert";
import { isPublicAddress } from "../../../shared/http/fetch/public_address.ts";

const CLOSED: Record<string, string[]> = {
  "this host and loopback": ["0.0.0.0", "0.0.0.1", "127.0.0.1", "127.255.255.254", "::", "::1"],
  "private": [
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "fc00::1",
    "fd00:ec2::254",
  ],
  "Azure's own, inside its machines": ["168.63.129.16", "::ffff:168.63.129.16", "::ffff:a83f:8110"],
  "link-local": ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1"],
  "shared and reserved": ["100.64.0.1", "192.0.0.8", "198.18.0.1", "203.0.113.1", "240.0.0.1"],
  "broadcast and multicast": ["255.255.255.255", "224.0.0.1", "ff02::1"],
  "IPv4-mapped": ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:169.254.169.254", "::ffff:10.0.0.1"],
  "IPv4-compatible": ["::7f00:1", "::127.0.0.1", "::a9fe:a9fe", "::10.0.0.1", "::8.8.8.8", "::2"],
  "IPv4-translated": ["::ffff:0:7f00:1", "::ffff:0:10.0.0.1", "::ffff:0:a9fe:a9fe"],
  "NAT64": ["64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1"],
  "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::", "192.88.99.1"],
  "Teredo": ["2001::1", "2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
  "special and not given out": ["100::1", "2001:db8::1", "3fff::1", "5f00::1", "1::1", "4000::1"],
  "no address": ["", "localhost", "::g", "[", "93.184.216.34.5", "1::2::3"],
};

for (const [kind, addresses] of Object.entries(CLOSED)) {
  Deno.test(`addresses that are not public: ${kind}`, () => {
    const open = addresses.flatMap((address) => [address, `[${address}]`]).filter(isPublicAddress);
    assertEquals(open, []);
  });
}

Deno.test("addresses of the public internet are public", () => {
  const open = ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001::200e"];
  const written = ["[2606:4700:4700::1111]", "::ffff:8.8.8.8", "::ffff:808:808"];
  assertEquals([...open, ...written].filter((address) => !isPublicAddress(address)), []);
});
