"""Models of kinds that no rule of the encoder was tuned on, trained here: no package is searched for weights.

    python3 benches/held_out_train.py DIR      # DIR/models/NAME.npz, a few minutes on two cores

Needs torch, numpy, scipy and scikit-learn. What is learned from comes with them: scikit-learn's two
photographs, its digits and tables, and the Python sources of scipy and scikit-learn as text. Trainings are
short, fixed in steps and seeds: weights are not those of finished models, nor the same on every machine.
"""

import re
import sys
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
import sklearn
import sklearn.datasets
import sklearn.feature_extraction.text
import sklearn.linear_model
import sklearn.neural_network
import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY = 8192


def text():
    """(words of all files in their order, label of each file)."""
    files = []
    for root in [Path(sklearn.__file__).parent, Path(scipy.__file__).parent]:
        files += [p for p in sorted(root.rglob("*.py")) if p.stat().st_size > 2000]
    return [p.read_text(errors="replace") for p in files], [p.relative_to(p.parents[-2]).parts for p in files]


def tokens(texts):
    words = re.findall(r"\w+|[^\w\s]|\n +", "\n".join(texts))
    names, counts = np.unique(words, return_counts=True)
    known = {w: i + 1 for i, w in enumerate(names[np.argsort(-counts, kind="stable")][: VOCABULARY - 1])}
    return torch.tensor([known.get(w, 0) for w in words])


def photos():
    images = sklearn.datasets.load_sample_images().images
    return [torch.from_numpy(i.copy()).permute(2, 0, 1).float() / 255 for i in images]


def patches(images, n, size, generator):
    out = []
    for _ in range(n):
        image = images[int(torch.randint(len(images), (1,), generator=generator))]
        y = int(torch.randint(image.shape[1] - size, (1,), generator=generator))
        x = int(torch.randint(image.shape[2] - size, (1,), generator=generator))
        out.append(image[:, y : y + size, x : x + size])
    return torch.stack(out)


class Block(nn.Module):
    def __init__(self, d, heads, experts=0):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o, self.heads = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), heads
        self.experts = experts
        if experts:
            self.router = nn.Linear(d, experts, bias=False)
            self.up = nn.Parameter(torch.randn(experts, 2 * d, d) * 0.02)
            self.down = nn.Parameter(torch.randn(experts, d, 2 * d) * 0.02)
        else:
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x, causal):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.n1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, d))
        h = self.n2(x)
        if not self.experts:
            return x + self.down(F.gelu(self.up(h)))
        gate = self.router(h).softmax(-1)
        best = gate.argmax(-1)
        out = torch.zeros_like(h)
        for e in range(self.experts):
            at = best == e
            out[at] = (F.gelu(h[at] @ self.up[e].T) @ self.down[e].T) * gate[at][:, e : e + 1]
        return x + out


class Gpt(nn.Module):
    def __init__(self, d=256, layers=4, experts=0):
        super().__init__()
        self.embed, self.position = nn.Embedding(VOCABULARY, d), nn.Embedding(128, d)
        self.blocks = nn.ModuleList(Block(d, 4, experts) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, VOCABULARY, bias=False)
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, std=0.02)

    def forward(self, ids):
        x = self.embed(ids) + self.position.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x, True)
        return self.head(self.norm(x))


class Recurrent(nn.Module):
    def __init__(self, cell, d=256, h=384, layers=1, vocabulary=VOCABULARY):
        super().__init__()
        self.embed, self.cell = nn.Embedding(vocabulary, d), cell(d, h, layers, batch_first=True)
        self.head = nn.Linear(h, vocabulary)

    def forward(self, ids):
        return self.head(self.cell(self.embed(ids))[0])


class Residual(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.b1, self.b2 = nn.BatchNorm2d(o), nn.BatchNorm2d(o)
        self.skip = nn.Conv2d(i, o, 1, stride, bias=False) if i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.skip(x))


def resnet():
    body = [nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU()]
    for i, o, s in [(32, 64, 2), (64, 128, 2), (128, 256, 2), (256, 256, 1), (256, 384, 2)]:
        body.append(Residual(i, o, s))
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(384, 4))


def mobilenet():
    def layer(i, o, s):
        wide = 4 * i
        return [
            nn.Conv2d(i, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU(),
            nn.Conv2d(wide, wide, 3, s, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU(),
            nn.Conv2d(wide, o, 1, bias=False), nn.BatchNorm2d(o),
        ]
    body = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    for i, o, s in [(16, 32, 2), (32, 64, 2), (64, 128, 1), (128, 256, 2), (256, 256, 1)]:
        body += layer(i, o, s)
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 4))


class Vit(nn.Module):
    def __init__(self, d=192, layers=4):
        super().__init__()
        self.patch, self.position = nn.Conv2d(3, d, 8, 8), nn.Parameter(torch.randn(1, 16, d) * 0.02)
        self.blocks = nn.ModuleList(Block(d, 3) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, 4)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        for block in self.blocks:
            x = block(x, False)
        return self.head(self.norm(x).mean(1))


def unet():
    return nn.Sequential(
        nn.Conv2d(3, 48, 5, 2, 2), nn.ReLU(), nn.Conv2d(48, 96, 3, 2, 1), nn.ReLU(), nn.Conv2d(96, 192, 3, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(192, 96, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(96, 48, 4, 2, 1), nn.ReLU(),
        nn.ConvTranspose2d(48, 3, 4, 2, 1),
    )


def train(model, steps, rate, batch, loss):
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 20) * (1 - step / steps) ** 0.5
        x, y = batch()
        value = loss(model(x), y)
        optimiser.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"  step {step} loss {value.item():.3f}", flush=True)
    return optimiser


def language(model, steps, rate, stream, generator, n=16, length=64):
    def batch():
        at = torch.randint(len(stream) - length - 1, (n,), generator=generator)
        rows = torch.stack([stream[a : a + length + 1] for a in at])
        return rows[:, :-1], rows[:, 1:]
    return train(model, steps, rate, batch, lambda p, y: F.cross_entropy(p.flatten(0, 1), y.flatten()))


def rotations(images, generator, n=32, size=32):
    def batch():
        x, y = patches(images, n, size, generator), torch.randint(4, (n,), generator=generator)
        return torch.stack([torch.rot90(p, int(k), (1, 2)) for p, k in zip(x, y)]), y
    return batch


def state(model):
    return {k: v.detach().numpy() for k, v in model.state_dict().items()}


def post_quantised(model, batch):
    """torch.ao's static quantisation with observers: INT8 kernels per channel, scales F64, zeros I64."""
    import warnings
    from torch.ao.quantization import get_default_qconfig_mapping, quantize_fx
    warnings.simplefilter("ignore")
    torch.backends.quantized.engine = "onednn" if "onednn" in torch.backends.quantized.supported_engines else "fbgemm"
    prepared = quantize_fx.prepare_fx(model.eval(), get_default_qconfig_mapping(torch.backends.quantized.engine), (batch()[0],))
    with torch.no_grad():
        for _ in range(8):
            prepared(batch()[0])
    out = {}
    for name, value in quantize_fx.convert_fx(prepared).state_dict().items():
        if not isinstance(value, torch.Tensor):
            continue
        if value.is_quantized:
            out[name] = value.int_repr().numpy()
            if value.qscheme() in (torch.per_channel_affine, torch.per_channel_symmetric):
                out[name + "_scale"], out[name + "_zero_point"] = value.q_per_channel_scales().numpy(), value.q_per_channel_zero_points().numpy()
            else:
                out[name + "_scale"], out[name + "_zero_point"] = np.float64(value.q_scale()).reshape(1), np.int64(value.q_zero_point()).reshape(1)
        else:
            out[name] = value.detach().numpy()
    return out


def main():
    folder = Path(sys.argv[1]) / "models"
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(13)
    generator = torch.Generator().manual_seed(13)
    texts, parts = text()
    images = photos()
    stream = tokens(texts)
    print(len(texts), "files", len(stream), "tokens", flush=True)

    def put(name, tensors):
        np.savez(folder / f"{name}.npz", **tensors)
        print(name, sum(v.size for v in tensors.values()), "weights", flush=True)

    # Classical models first: counts, embeddings, tables.
    labels = ["/".join(p[-3:-1]) for p in parts]
    tfidf = sklearn.feature_extraction.text.TfidfVectorizer(max_features=20000, token_pattern=r"\w+")
    counts = tfidf.fit_transform(texts)
    linear = sklearn.linear_model.SGDClassifier(loss="log_loss", alpha=1e-5, max_iter=20, random_state=13).fit(counts, labels)
    sparse = sklearn.linear_model.SGDClassifier(loss="log_loss", penalty="l1", alpha=1e-5, max_iter=20, random_state=13).fit(counts, labels)
    put("tfidf-linear", {"idf": tfidf.idf_, "coef": linear.coef_[:40], "intercept": linear.intercept_[:40], "l1.coef": sparse.coef_[:40]})
    ids = stream.numpy()
    pairs = scipy.sparse.coo_matrix((np.ones(2 * len(ids) - 6), (np.r_[ids[:-2], ids[:-4]], np.r_[ids[2:], ids[4:]])), (VOCABULARY,) * 2).tocsr()
    pairs.sum_duplicates()
    pairs.data = np.log1p(pairs.data)
    u, s, _ = scipy.sparse.linalg.svds(pairs, 192, random_state=13)
    put("word-svd", {"embedding.weight": (u * s**0.5).astype(np.float32)})
    tables = {}
    for name in ["digits", "breast_cancer", "wine", "diabetes", "iris"]:
        data = getattr(sklearn.datasets, f"load_{name}")()
        x = (data.data - data.data.mean(0)) / (data.data.std(0) + 1e-9)
        kind = sklearn.neural_network.MLPRegressor if name == "diabetes" else sklearn.neural_network.MLPClassifier
        mlp = kind(hidden_layer_sizes=(256, 256), max_iter=30, random_state=13).fit(x, data.target)
        for i, (w, b) in enumerate(zip(mlp.coefs_, mlp.intercepts_)):
            tables[f"{name}.{i}.coef"], tables[f"{name}.{i}.intercept"] = w, b
    put("tabular-mlp", tables)

    bag = nn.EmbeddingBag(65536, 64, sparse=False, mode="mean")
    nn.init.uniform_(bag.weight, -1 / 64, 1 / 64)
    names = sorted(set(labels))
    hashed = [torch.tensor([zlib.crc32(w.encode()) % 65536 for w in re.findall(r"\w+", t)[:1000]]) for t in texts]
    classify = nn.Sequential(bag, nn.Linear(64, len(names)))
    def bags():
        at = torch.randint(len(texts), (32,), generator=generator)
        rows = [hashed[a] for a in at]
        return rows, torch.tensor([names.index(labels[a]) for a in at])
    forward = lambda rows: classify[1](bag(torch.cat(rows), torch.tensor(np.cumsum([0] + [len(r) for r in rows[:-1]]))))
    optimiser = torch.optim.SGD(classify.parameters(), lr=20.0)
    for _ in range(200):
        rows, y = bags()
        value = F.cross_entropy(forward(rows), y)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    put("hashed-bag", state(classify))

    turned = rotations(images, generator)
    for name, model, steps in [("resnet", resnet(), 150), ("vit", Vit(), 200), ("mobilenet", mobilenet(), 200)]:
        train(model, steps, 1e-3, turned, F.cross_entropy)
        put(name, state(model))
    put("mobilenet-ptq", post_quantised(model, turned))
    def noisy():
        x = patches(images, 16, 48, generator)
        return x + 0.1 * torch.randn(x.shape, generator=generator), x
    model = unet()
    train(model, 150, 2e-3, noisy, F.mse_loss)
    put("unet", state(model))

    model = Recurrent(nn.LSTM)
    language(model, 120, 3e-3, stream, generator)
    put("lstm", state(model))
    raw = torch.from_numpy(np.frombuffer("\n".join(texts)[:4_000_000].encode("latin-1", "replace"), np.uint8).astype(np.int64))
    model = Recurrent(nn.GRU, 64, 512, 2, 256)
    language(model, 120, 2e-3, raw, generator, 16, 96)
    put("gru-bytes", state(model))

    model = Gpt(192, 2, 8)
    language(model, 120, 1e-3, stream, generator)
    put("gpt-moe", state(model))
    model = Gpt()
    optimiser = language(model, 250, 1e-3, stream, generator)
    put("gpt", state(model))
    names = [n for n, _ in model.named_parameters()]
    moments = {}
    for name, p in zip(names, model.parameters()):
        s = optimiser.state[p]
        moments[f"exp_avg.{name}"], moments[f"exp_avg_sq.{name}"] = s["exp_avg"].numpy(), s["exp_avg_sq"].numpy()
    put("gpt-adam", moments)


if __name__ == "__main__":
    main()
