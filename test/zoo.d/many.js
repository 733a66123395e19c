// What Node programs do with threads, processes, timers and signals. Prints nothing that depends on
// the order or on the time.
"use strict";
const assert = require("assert");
const cluster = require("cluster");
const crypto = require("crypto");
const child = require("child_process");
const fs = require("fs");
const http = require("http");
const os = require("os");
const path = require("path");
const zlib = require("zlib");
const { promisify } = require("util");
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");

function work(n) {
	let seed = n + 1;
	const map = new Map();

	for (let i = 0; i < 100000; i++) {
		seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
		map.set("k" + (seed % 30011), { i, text: "v" + i });
	}
	let sum = 0;
	for (const [key, value] of map)
		sum = (sum * 31 + key.length + value.i) % 1000003;
	return sum;
}

function inThread(n) {
	return new Promise((resolve, reject) => {
		const worker = new Worker(__filename, { workerData: n });

		worker.on("message", resolve);
		worker.on("error", reject);
	});
}

async function threads() {
	const sums = await Promise.all([...Array(6).keys()].map(inThread));

	console.log("threads", sums.join());
	const endless = new Worker("for (;;);", { eval: true });
	await new Promise((resolve) => setTimeout(resolve, 100));
	console.log("terminated", await endless.terminate());
}

async function pool() {
	const pbkdf2 = promisify(crypto.pbkdf2);
	const gzip = promisify(zlib.gzip), gunzip = promisify(zlib.gunzip);
	const keys = await Promise.all([1, 2, 3, 4, 5, 6].map(
		(n) => pbkdf2("secret", "salt" + n, 20000, 16, "sha256")));
	const text = Buffer.from("some text ".repeat(200000));

	console.log("keys", keys.map((k) => k.toString("hex").slice(0, 4)).join());
	console.log("zlib", text.equals(await gunzip(await gzip(text))));
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), "node-"));
	await Promise.all([...Array(100).keys()].map(
		(n) => fs.promises.writeFile(path.join(folder, "f" + n), "x".repeat(n))));
	console.log("files", (await fs.promises.readdir(folder)).length);
}

async function processes() {
	const exec = promisify(child.exec);
	const all = await Promise.all([...Array(10).keys()].map((n) => exec(`echo ${n}`)));

	console.log("exec", all.map((r) => r.stdout.trim()).join());
	console.log("sync", child.spawnSync("sh", ["-c", "kill -KILL $$"]).signal,
		child.spawnSync("sh", ["-c", "exit 9"]).status);
	const forked = child.fork(__filename, ["forked"]);
	forked.send(7);
	console.log("forked", await new Promise((resolve) => forked.on("message", resolve)));
	console.log("status", await new Promise((resolve) => forked.on("exit", resolve)));
	const cat = child.spawn("cat");
	let length = 0;
	cat.stdout.on("data", (data) => { length += data.length; });
	cat.stdin.end("y".repeat(1000000));
	await new Promise((resolve) => cat.on("close", resolve));
	console.log("cat", length);
}

function get(port) {
	return new Promise((resolve, reject) => {
		http.get({ port, agent: false }, (answer) => {
			let text = "";

			answer.on("data", (data) => { text += data; });
			answer.on("end", () => resolve(text));
		}).on("error", reject);
	});
}

async function servers() {
	cluster.setupPrimary({ args: ["server"] });
	const workers = [cluster.fork(), cluster.fork()];
	const ports = await Promise.all(workers.map(
		(w) => new Promise((resolve) => w.on("message", resolve))));
	let length = 0;

	for (let i = 0; i < 20; i++)
		for (const text of await Promise.all(ports.map(get)))
			length += text.length;
	workers[0].kill();
	const signal = await new Promise((resolve) => workers[0].on("exit", (_, s) => resolve(s)));
	workers[1].disconnect();
	const status = await new Promise((resolve) => workers[1].on("exit", resolve));
	console.log("cluster", length, signal, status);
}

async function signals() {
	let seen = 0;

	for (const name of ["SIGUSR2", "SIGHUP", "SIGURG"]) {
		process.on(name, () => seen++);
		process.kill(process.pid, name);
	}
	while (seen < 3)
		await new Promise((resolve) => setTimeout(resolve, 5));
	work(1);
	await new Promise((resolve) => setTimeout(resolve, 50));
	console.log("signals", seen);
	const start = process.hrtime.bigint();
	await new Promise((resolve) => setTimeout(resolve, 200));
	console.log("timer", process.hrtime.bigint() - start >= 199000000n);
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}

function wasm() {
	// (func (param i32) (result i32) local.get 0 i32.const 3 i32.mul); memory of one page, read far
	const code = new Uint8Array([
		0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1, 96, 1, 127, 1, 127, 3, 2, 1, 0, 5, 3, 1, 0, 1,
		7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 32, 0, 40, 2, 0, 11 ]);
	const { f } = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
	let trapped = 0;

	for (let i = 0; i < 2000; i++) {
		try {
			f(i % 2 ? 65536 * 100 + i : i);
		} catch (error) {
			trapped += error instanceof WebAssembly.RuntimeError;
		}
	}
	console.log("wasm", trapped);
}

async function main() {
	await threads();
	await pool();
	await processes();
	await servers();
	await signals();
	wasm();
	console.log("work", [...Array(10).keys()].map(work).join());
	process.exitCode = 5;
}

if (!isMainThread) {
	parentPort.postMessage(work(workerData));
} else if (cluster.isWorker) {
	const server = http.createServer((_, answer) => answer.end("z".repeat(1000)));

	server.listen(0, () => process.send(server.address().port));
} else if (process.argv[2] === "forked") {
	process.on("message", (n) => {
		process.send(work(n));
		process.disconnect();
		process.exitCode = 6;
	});
} else {
	main().catch((error) => {
		console.log(error);
		assert(false);
	});
}
