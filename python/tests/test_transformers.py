"""latens.transformers beside transformers' own from_pretrained, with small models of random weights."""

import json

import pytest

import latens
from latens import wcodec

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import latens.transformers as ours  # noqa: E402

SMALL = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


def saved(model, folder):
    model.save_pretrained(folder)
    wcodec.compress_file(folder / "model.safetensors", level=1)
    return folder


@pytest.fixture
def llama(tmp_path):
    config = transformers.LlamaConfig(vocab_size=64, max_position_embeddings=32, **SMALL)
    return saved(transformers.LlamaForCausalLM(config), tmp_path / "llama")


def both(cls, folder, **options):
    """The models of both, which have the same class, configuration and weights."""
    made = []
    for load in (cls.from_pretrained, lambda *given, **more: ours.from_pretrained(cls, *given, **more)):
        torch.manual_seed(3)
        made.append(load(folder, **options))
    one, two = made
    assert type(one) is type(two) and one.config.to_dict() == two.config.to_dict()
    assert one.name_or_path == two.name_or_path and one.dtype == two.dtype
    states = one.state_dict(), two.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    return one, two


def test_settings_for_generation(llama):
    settings = {"eos_token_id": [5, 7], "bos_token_id": 1, "max_new_tokens": 4, "do_sample": False}
    (llama / "generation_config.json").write_text(json.dumps(settings))
    one, two = both(transformers.AutoModelForCausalLM, llama)
    assert two.generation_config.eos_token_id == [5, 7] and two.generation_config.max_new_tokens == 4
    ids = torch.tensor([[1, 2, 3]])
    assert one.generate(ids).tolist() == two.generate(ids).tolist()
    given = transformers.GenerationConfig(max_new_tokens=9)
    two = ours.from_pretrained(transformers.LlamaForCausalLM, llama, generation_config=given)
    assert two.generation_config.max_new_tokens == 9
    # Without the file they are those of the configuration.
    (llama / "generation_config.json").unlink()
    one, two = both(transformers.AutoModelForCausalLM, llama)
    assert one.generation_config.to_dict() == two.generation_config.to_dict()


@pytest.mark.parametrize(
    "name, options",
    [
        ("AutoModelForCausalLM", {"use_cache": False}),
        ("LlamaForCausalLM", {"use_cache": False, "dtype": torch.bfloat16}),
        ("AutoModelForCausalLM", {"dtype": torch.float16}),
        ("AutoModelForCausalLM", {"dtype": "auto", "attn_implementation": "eager"}),
        ("AutoModelForSequenceClassification", {"num_labels": 5}),
        ("LlamaForSequenceClassification", {"num_labels": 5, "ignore_mismatched_sizes": True}),
        ("AutoModel", {}),
    ],
)
def test_options_are_those_of_transformers(llama, name, options):
    both(getattr(transformers, name), llama, **options)


def test_where_a_configuration_comes_from(llama, tmp_path):
    cls = transformers.AutoModelForCausalLM
    (tmp_path / "alone").mkdir()
    (llama / "model.wcodec").rename(tmp_path / "alone/x.wcodec")
    expected = cls.from_pretrained(llama).state_dict()
    config = transformers.AutoConfig.from_pretrained(llama)
    for given in (config, str(llama), llama / "config.json"):
        model = ours.from_pretrained(cls, tmp_path / "alone/x.wcodec", config=given)
        assert all(torch.equal(expected[name], tensor) for name, tensor in model.state_dict().items())
    found, about = ours.from_pretrained(
        cls, tmp_path / "alone", config=config, output_loading_info=True
    )
    assert not about["missing_keys"] and found.name_or_path == str(tmp_path / "alone")
    with pytest.raises(latens.InvalidArgumentError, match="state_dict"):
        ours.from_pretrained(cls, tmp_path / "alone", config=config, state_dict={})


def test_parts_of_a_composite_model(tmp_path):
    text = {"vocab_size": 64, "max_position_embeddings": 8, **SMALL}
    vision = {"image_size": 8, "patch_size": 4, **SMALL}
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    folder = saved(transformers.CLIPModel(config), tmp_path)
    for name in ("CLIPModel", "CLIPTextModel", "CLIPVisionModel", "AutoModel"):
        both(getattr(transformers, name), folder)


class OwnConfig(transformers.PretrainedConfig):
    model_type = "none of transformers"

    def __init__(self, width=4, **more):
        super().__init__(**more)
        self.width = width


class Own(transformers.PreTrainedModel):
    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config)
        self.linear = torch.nn.Linear(config.width, config.width)
        self.post_init()

    def _init_weights(self, module):
        pass


def test_classes_that_transformers_does_not_know(tmp_path):
    both(Own, saved(Own(OwnConfig(width=3)), tmp_path))


REMOTE = """
import torch
from transformers import PretrainedConfig, PreTrainedModel

class Config(PretrainedConfig):
    model_type = "remote"

class Model(PreTrainedModel):
    config_class = Config

    def __init__(self, config):
        super().__init__(config)
        self.linear = torch.nn.Linear(4, 4)
        self.post_init()

    def _init_weights(self, module):
        pass
"""


def test_code_in_the_folder_is_run_where_it_is_trusted(tmp_path, monkeypatch):
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = tmp_path / "remote"
    folder.mkdir()
    (folder / "code_here.py").write_text(REMOTE)
    places = {"AutoConfig": "code_here.Config", "AutoModel": "code_here.Model"}
    (folder / "config.json").write_text(json.dumps({"model_type": "remote", "auto_map": places}))
    state = {"linear.weight": torch.eye(4), "linear.bias": torch.ones(4)}
    wcodec.save_file(state, folder / "model.wcodec")
    model = ours.from_pretrained(transformers.AutoModel, folder, trust_remote_code=True)
    assert type(model).__name__ == "Model" and torch.equal(model.linear.weight, torch.eye(4))
    with pytest.raises(ValueError, match="trust_remote_code"):
        ours.from_pretrained(transformers.AutoModel, folder, trust_remote_code=False)
